# SPDX-License-Identifier: MIT
# blip run in bpftrace's language, on real targets.
as: both

case: begin, a timer and end need no target
until: alone
run: blip run --lang bpftrace -e 'BEGIN { printf("begin\n"); } interval:ms:20 { @n++; if (@n >= 3) { exit(5); } } END { printf("end\n"); }'
expect-exit: 5
check: out == "begin\nend\n\n\n@n: 3\n"

case: arguments, a filter and texts at a function
target: loop_calls 10
run: blip run --lang bpftrace -e 'uprobe:loop_calls:work /args.i >= 7/ { printf("%d %d %s %s %d\n", args.i, arg0, str(arg1), func, pid == tid); }' -p $PID
check: out.splitlines()[:3] == [f"{i} {i} s work 1" for i in (7, 8, 9)]

case: counts, sums, histograms
target: loop_calls 100
run: blip run --lang bpftrace -e 'uprobe:loop_calls:work { @c[comm] = count(); @s = sum(arg0); @h = hist(arg0); @l = lhist(arg0, 0, 100, 50); }' -p $PID
expect: @c[loop_calls]: 100
expect: @s: 4950
expect: [64, 128)             36 |@@@@
check: re.search(r"\[0, 50\) +50 \|@{52}\|\n\[50, 100\) +50 \|@{52}\|", out)

case: how long calls take, by thread
target: loop_calls 50
run: blip run --lang bpftrace -e 'uprobe:loop_calls:work { @start[tid] = nsecs; } uretprobe:loop_calls:work /@start[tid]/ { @ns = hist(nsecs - @start[tid]); @n = count(); delete(@start[tid]); }' -p $PID
expect: @n: 50
expect: @ns:

case: a return has what it returns, and the arguments of its call
target: loop_calls 5
run: blip run --lang bpftrace -e 'uretprobe:loop_calls:work { @[args.i] = retval; }' -p $PID
check: len(re.findall(r"^@\[\d\]: ", out, re.M)) == 5

case: marks, with their arguments
target: marks 6
run: blip run --lang bpftrace -e 'usdt:marks:demo:begin { printf("%d %d\n", arg0, arg2); }' -p $PID
check: out.splitlines()[:6] == [f"{i} {-i}" for i in range(6)]

case: stacks as keys
target: stacks 3
run: blip run --lang bpftrace -e 'uprobe:stacks:leaf { @[ustack(2)] = count(); }' -p $PID
check: re.search(r"@\[\n        leaf\+0@\S+stacks.c:\d+\n        middle\+\d+@\S+stacks.c:\d+\n\]: \d+\n", out)

case: as JSON
target: loop_calls 3
run: blip run --lang bpftrace -f json -e 'uprobe:loop_calls:work { @[arg0] = count(); }' -p $PID
check: out == '{"type": "map", "data": {"@": {"0": 1, "1": 1, "2": 1}}}\n'

case: a command from its start; the name of the library is enough
until: alone
run: blip run --lang bpftrace -e 'uprobe:libc:getaddrinfo { printf("%s\n", str(arg0)); }' -- getent ahosts localhost
expect: localhost

case: what is wrong shows its place
run: blip run --lang bpftrace -e 'uprobe:a:b { print(args.n) }  kprobe:x { }'
error: a kernel probe: blip sees user space only

case: a member that is not there is an error of its place
target: loop_calls 1
run: blip run --lang bpftrace -e 'uprobe:loop_calls:work { print(args.nothing) }' -p $PID
error: there is no variable 'nothing' here

# The kinds of scripts that bpftrace's five user-space tools are, written anew.
case: names that are looked up, with how long it took
until: alone
run: blip run --lang bpftrace -e 'BEGIN { printf("%-9s %-16s %6s %s\n", "TIME", "COMM", "US", "HOST"); }
  uprobe:libc:getaddrinfo { @start[tid] = nsecs; @name[tid] = arg0; @text[tid] = str(arg0); }
  uretprobe:libc:getaddrinfo /@start[tid]/ { printf("%-16s %6d %s\n", comm, (nsecs - @start[tid]) / 1000, @text[tid]); clear(@start); clear(@name); clear(@text); }'
  -- getent ahosts localhost
check: re.search(r"^getent +\d+ localhost$", out, re.M) and "@" not in out

case: threads that are made, and what they run
until: alone
run: blip run --lang bpftrace -e 'uprobe:libc:pthread_create { printf("%d %s %s\n", pid > 0, comm, usym(arg2)); }' -- $TARGETS/threads 2 1
expect: threads

case: what goes through a buffer
target: loop_calls 3
run: blip run --lang bpftrace -e 'uprobe:loop_calls:work { printf("%d %r|\n", arg0, buf(arg1, 2)); }' -p $PID
check: out.splitlines()[:3] == [f"{i} s\\x00|" for i in range(3)]
