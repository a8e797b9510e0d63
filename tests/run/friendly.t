# SPDX-License-Identifier: MIT
# The manual, completion, progress, colours, installing. $TARGETS/.. is the build directory.

case: what takes long is told on stderr
target: vfork_waits
run: blip count -p $PID --function work
expect-exit: 1
check: re.search(r"^blip: still waiting for .* \(\d+\.\d s\)$$", err, re.M)
go:

case: with -q nothing is told but the error
target: vfork_waits
run: blip count -q -p $PID --function work
expect-exit: 1
check: len(err.splitlines()) == 1 and "still" not in err
go:

case: on a terminal the status line is taken away again
needs: script
target: vfork_waits
sh: TERM=xterm script -qec "blip count -p $PID --function work" typescript >/dev/null; code=$$?; tr '\r' @ <typescript >seen; exit $$code
expect-exit: 1
check: "@\x1b[Kblip: still waiting for" in read_file("seen")
check: re.search("@\x1b\\[K\x1b\\[1;31mblip:\x1b\\[0m.*vfork", read_file("seen"))
check: not re.search("still[^@]*\n", read_file("seen"))
go:

case: colours on a terminal, none in a pipe, none with NO_COLOR
needs: script
target: loop_calls 5
sh: export TERM=xterm; B="blip count -p $PID --function work --duration 100ms";
    script -qec "$$B" on >/dev/null; NO_COLOR=1 script -qec "$$B" off >/dev/null; script -qec "$$B --color never" never >/dev/null;
    $$B > pipe 2>&1; $$B --color always > always
check: "\x1b[1m" in read_file("on") and "\x1b[1m" in read_file("always")
check: "\x1b" not in read_file("off") + read_file("never") + read_file("pipe")

case: a wrong command line, in red on a terminal only
needs: script
sh: TERM=xterm script -qec "blip trase" on > /dev/null; blip trase 2> pipe; NO_COLOR=1 TERM=xterm script -qec "blip trase" off >/dev/null; true
check: "\x1b[1;31mblip:\x1b[0m unknown verb" in read_file("on")
check: "\x1b" not in read_file("off") + read_file("pipe")

