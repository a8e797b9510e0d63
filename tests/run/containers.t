# SPDX-License-Identifier: MIT
# Targets behind walls: namespaces, other roots, other users, filters. Pids in a trace are the target's own.
as: both
timeout: 60

case: other pid, mount and user namespaces
inside: unshare --fork --pid --mount --user --map-root-user --mount-proc --
target: loop_calls 500
run: blip record -p $PID --function work --context reg:rdi --context pid --context tid -o t
exact:
check: pid == 1 and PID != 1
check: [(e.rdi, e.vpid, e.vtid) for e in events()] == [(i, 1, 1) for i in range(500)]

case: threads in another pid namespace
inside: unshare --fork --pid --user --map-root-user --
target: threads 4 200
run: blip record -p $PID --function work --context tid -o t
exact:
check: {e.vtid for e in events()} == {tid0, tid1, tid2, tid3}

case: a static program in another pid namespace
inside: unshare --fork --pid --user --map-root-user --
target: loop_static 300
run: blip record -p $PID --function work --context tid -o t
exact:
check: {e.vtid for e in events()} == {1}

case: a musl program in another pid namespace
needs: musl-gcc
inside: unshare --fork --pid --user --map-root-user --
target: loop_musl 300
run: blip record -p $PID --function work --context pid --context tid -o t
exact:
check: {(e.vpid, e.vtid) for e in events()} == {(1, 1)}

case: bubblewrap, everything unshared
needs: bwrap
inside: bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc --die-with-parent --
target: loop_calls 500
run: blip record -p $PID --context tid --function work --function libc.so.6:write -o t
reads:
check: len(events("work")) == 500 and len(events("write")) == 2 and {e.vtid for e in events()} == {pid}

case: a container with its own files, other ones under the same paths outside
needs: bwrap
prepare: mkdir -p root/bin root/lib64 root/lib/x86_64-linux-gnu root/proc; cp $TARGETS/loop_calls root/bin/true;
  cp -L /lib64/ld-linux-x86-64.so.2 root/lib64; cp -L /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu;
  chmod -R a+rX root
inside: bwrap --unshare-all --ro-bind $DIR/root / --proc /proc --die-with-parent --
program: /bin/true 500
run: blip record -p $PID --context tid --function work --function libc.so.6:write -o t
reads:
check: len(events("work")) == 500 and len(events("write")) == 2

case: a chroot with a libc of its own
prepare: mkdir -p root/bin root/lib64 root/lib/x86_64-linux-gnu; cp $TARGETS/loop_calls root/bin/true;
  cp -L /lib64/ld-linux-x86-64.so.2 root/lib64; cp -L /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu;
  chmod -R a+rX root
inside: unshare --user --map-root-user chroot $DIR/root
program: /bin/true 500
run: blip record -p $PID --function work --function libc.so.6:write -o t
reads:
check: len(events("work")) == 500 and len(events("write")) == 2

case: a chroot with musl
needs: musl-gcc
prepare: mkdir -p root/bin root/lib; cp $TARGETS/loop_musl root/bin/true; cp -L /lib/ld-musl-x86_64.so.1 root/lib; chmod -R a+rX root
inside: unshare --user --map-root-user chroot $DIR/root
program: /bin/true 500
run: blip record -p $PID --function work --function ld-musl-x86_64.so.1:write -o t
reads:
check: len(events("work")) == 500 and len(events("write")) == 2

case: blip in the same container
inside: unshare --fork --pid --mount --user --map-root-user --mount-proc --
target: loop_calls 500
until: end
run: nsenter -t $PID --user --preserve-credentials --pid --mount --wd=$DIR -- blip record -p $pid --function work --context tid
  --max-events 500 -o t
exact:
check: {e.vtid for e in events()} == {1}

case: a session in a container, twenty times
inside: unshare --fork --pid --mount --user --map-root-user --mount-proc --
target: loop_calls 100
repeat: 20
run: blip count -p $PID --function work --function libc.so.6:*
check: table()["work"] == 100

case: a killed blip's leftovers in a container are cleaned
inside: unshare --fork --pid --mount --user --map-root-user --mount-proc --
target: loop_calls 100
start: blip count -p $PID --function work
end: KILL
expect-exit: -9
run: blip count -p $PID --function work
expect: work 100

case: another user's process, as root
as: root
target-as: user
target: loop_calls 100
run: blip record -p $PID --function work -o t
exact:

case: a process in a namespace of root's, as another user
as: user
target-as: root
inside: unshare --user --map-root-user --
target: loop_calls 10
run: blip record -p $PID --function work -o t
error: $PID, user namespace

case: no_new_privs
inside: setpriv --no-new-privs --
target: loop_calls 100
run: blip record -p $PID --function work -o t
exact:

case: blip where there is no /sys
as: root
needs: root unshare
target: loop_calls 500
run: unshare --mount sh -c 'mount -t tmpfs none /sys && exec blip record -p $PID --function work -o t'
exact:

case: process 1, from one of its children, as root and by request
as: root
needs: root
sh: unshare --pid --fork --mount-proc sh -c 'blip count -p 1 --allow-init --function libc.so.6:write --duration 200ms 2>&1; echo lives'
expect-match: armed 1 probes
expect: lives

case: a sandboxed target, as root
as: root
target: sandboxed kill
run: blip record -p $PID --function work --context tid --context comm -o t
exact:

case: a sandboxed target of root's that fails system calls, counted ten times
as: root
target: sandboxed errno
repeat: 10
run: blip count -p $PID --function work
expect: work 100

case: a sandboxed target without root is refused, by name of the obstacle
as: user
each: kill errno
target: sandboxed $EACH
run: blip record -p $PID --function work -o t
error: $PID, seccomp, root
go:

case: a target that protects itself
as: user
target: undumpable
run: blip record -p $PID --function work -o t
error: $PID, PR_SET_DUMPABLE, root
go:

case: a target that protects itself, as root
as: root
each: root user
target-as: $EACH
target: undumpable
run: blip record -p $PID --function work -o t
exact:

case: a target with capabilities
as: user
target-as: root
inside: setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +net_raw --ambient-caps +net_raw --
target: loop_calls 10
run: blip record -p $PID --function work -o t
error: $PID, capabilities

case: a target with another group
as: user
target-as: root
inside: setpriv --reuid 65534 --regid 1 --clear-groups --
target: loop_calls 10
run: blip record -p $PID --function work -o t
error: $PID, gid 1

case: root without CAP_SYS_PTRACE
as: root
target-as: user
target: loop_calls 10
run: setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace -- blip record -p $PID --function work -o t
error: $PID, lacks CAP_SYS_PTRACE, --cap-add
