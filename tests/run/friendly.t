# SPDX-License-Identifier: MIT
# The manual, completion, progress, colours, installing. $TARGETS/.. is the build directory.

case: the manual page has no warnings
needs: man mandoc
sh: man --warnings -E UTF-8 -l -Tutf8 -Z $TARGETS/../share/man/man1/blip.1 2>&1 >/dev/null; mandoc -Tlint $TARGETS/../share/man/man1/blip.1
check: out == "" and err == ""

case: the manual page has its sections, and what --help has
needs: man
sh: MANWIDTH=200 man -P cat -l $TARGETS/../share/man/man1/blip.1 | col -b
check: [s for s in "NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS SPEC CONTEXTS FILES ENVIRONMENT PERMISSIONS".split()
       if not re.search("^" + s + "$", out, re.M)] == []
check: re.search("^EXIT STATUS$", out, re.M) and re.search("^SEE ALSO$", out, re.M)
expect: blip - trace functions
expect: blip trace -p 4711 --function parse_request --context reg:rdi
expect: -p, -x, --pid PID

case: bash completes verbs, options and their values
sh: $LIB/complete.sh bash $TARGETS/../share "blip tr" "blip trace --col" "blip trace --color=a" "blip trace --color "
    "blip trace --context reg:r1" "blip trace --context tid,com" "blip rec" "blip view --arg" "blip record --function x --out"
check: out.splitlines() == ["trace", "--color", "auto always", "auto always never", "r10 r11 r12 r13 r14 r15",
       "tid,comm", "record", "", "--output"]
check: err == ""

case: bash completes pids and directories
target: loop_calls 1
sh: mkdir adir; touch afile; $LIB/complete.sh bash $TARGETS/../share "blip trace -p ${PID}" "blip record -o a" "blip view a"
check: out.splitlines() == [str(PID), "adir", "adir"]

case: bash shows the names beside several pids
target: loop_calls 1
sh: COMP_TYPE=63 $LIB/complete.sh bash $TARGETS/../share "blip trace -p "
expect: $PID (loop_calls)

case: fish completes verbs, options, values and pids
needs: fish
target: loop_calls 1
sh: mkdir adir; touch afile; $LIB/complete.sh fish $TARGETS/../share "blip tr" "blip trace --col" "blip trace --color=a"
    "blip trace --context tid,com" "blip record -o a" "blip view a" "blip trace -p ${PID}"
check: out.splitlines() == ["trace", "--color", "--color=always --color=auto", "tid,comm", "adir/", "adir/", str(PID)]
check: err == ""

case: zsh completes verbs, options, values and pids
needs: zsh
target: loop_calls 1
sh: mkdir adir; touch afile; $LIB/complete.sh zsh $TARGETS/../share "blip tr" "blip trace --col" "blip trace --color "
    "blip trace --context tid,com" "blip record -o a" "blip view a" "blip trace -p ${PID}"
check: out.splitlines() == ["trace", "--color", "always auto never", "comm", "adir", "adir", str(PID)]
check: err == ""

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
    $$B > pipe 2>&1; $$B --color always > always; script -qec "blip list -p $PID" list >/dev/null; blip list -p $PID >> pipe
check: "\x1b[1m" in read_file("list") and "\x1b[1m" in read_file("on") and "\x1b[1m" in read_file("always")
check: "\x1b" not in read_file("off") + read_file("never") + read_file("pipe")

case: a wrong command line, in red on a terminal only
needs: script
sh: TERM=xterm script -qec "blip trase" on > /dev/null; blip trase 2> pipe; NO_COLOR=1 TERM=xterm script -qec "blip trase" off >/dev/null; true
check: "\x1b[1;31mblip:\x1b[0m unknown verb" in read_file("on")
check: "\x1b" not in read_file("off") + read_file("pipe")

case: make install puts everything under DESTDIR and PREFIX
sh: DESTDIR=$DIR/root cmake --install $TARGETS/.. --prefix /opt/blip --component Unspecified >/dev/null &&
    cd root/opt/blip && find . -type f | sort && bin/blip --version
check: out.splitlines()[:-1] == ["./bin/blip", "./share/bash-completion/completions/blip",
       "./share/fish/vendor_completions.d/blip.fish", "./share/man/man1/blip.1", "./share/zsh/site-functions/_blip"]
expect-match: ^blip \d+\.\d+

case: the Debian package holds everything and its program runs
needs: dpkg-deb dpkg-shlibdeps
timeout: 120
sh: deb=$$($LIB/../../packaging/deb.sh $TARGETS/.. $DIR) && dpkg-deb -I $$deb && dpkg-deb -c $$deb | tee files && dpkg-deb -x $$deb root &&
    root/usr/bin/blip --version && man -l root/usr/share/man/man1/blip.1.gz | head -n 5
expect-match: Depends: .*libc6 \(>=.*libbabeltrace2-0
expect-match: Built-Using: asmjit \(= \S+\), libiberty \(= 
check: [f for f in ("usr/bin/blip", "usr/share/man/man1/blip.1.gz", "usr/share/doc/blip/copyright",
       "usr/share/bash-completion/completions/blip", "usr/share/zsh/vendor-completions/_blip",
       "usr/share/fish/vendor_completions.d/blip.fish") if "./" + f + "\n" not in out] == []
check: all("root/root" in line for line in read_file("files").splitlines())
expect-match: ^blip \d+\.\d+

case: lintian finds no error in the package
needs: lintian dpkg-shlibdeps
timeout: 180
sh: cp $$($LIB/../../packaging/deb.sh $TARGETS/.. $DIR) x.deb && lintian --allow-root --fail-on error x.deb
check: not re.search("^E:", out + err, re.M)

case: the package installs, works, and leaves nothing when removed
as: root
needs: root dpkg-deb dpkg-shlibdeps
timeout: 180
sh: $LIB/dpkg_round_trip.sh $$($LIB/../../packaging/deb.sh $TARGETS/.. $DIR)
expect-match: ^blip \d+\.\d+
expect: gone

case: -p with a command
target: loop_calls 1
run: blip trace -p $PID --function work -c "ls -l"
usage: -p, command, exclude
run: blip trace -p $PID --function work -- ls -l
usage: -p, command, exclude

case: -p with -n, and --wait without it
target: loop_calls 1
run: blip trace -p $PID -n loop_calls --function work
usage: -p and -n exclude, by their name
run: blip trace -p $PID --wait --function work
usage: --wait, -n NAME

case: -c that is not quoted right, or wants a shell
sh: blip trace --function main -c "ls 'a"
usage: a ' is not closed, second
sh: blip trace --function main -c "ls | wc"
usage: '|', shell, sh -c
sh: blip trace --function main -c ""
usage: the command is empty

case: no command after -- or -c
run: blip trace --function main --
usage: no command follows, ls -l
run: blip trace --function main -c
usage: -c needs a value, -c "CMD"

case: a module that is not loaded
target: loop_calls 1
run: blip count -p $PID --function libnope:foo
error: libnope, no module, libc.so.6

case: a glob that matches nothing
target: loop_calls 1
run: blip count -p $PID --function zork*
error: no function matches 'zork*'

case: a name that matches nothing, with and without one that is near
target: loop_calls 1
run: blip count -p $PID --function wrok
error: no function matches 'wrok', nearest, work
run: blip count -p $PID --function q17_xyzzy_plugh_9
error: no function matches, blip list

case: too many probes
target: many
run: blip count -p $PID --function many_* --max-probes 100
usage: more than 100, --max-probes

case: nobody has that name
run: blip count -n no_such_program_here --function main
error: no_such_program_here, --wait

case: all about one option
run: blip help --capture
expect: --capture LIST (trace, record)
expect: entry(EXPR)
run: blip help --nix
usage: unknown option --nix, blip help VERB
