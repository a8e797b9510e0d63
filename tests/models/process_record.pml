/* SPDX-License-Identifier: MIT
 *
 * Model of the process records (docs/design/ring.md, "whose records follow"): processes that share a ring take turns on one CPU.
 * Before every instruction of a section the running process may be taken off the CPU (its section is aborted, and it
 * starts over when it comes back) or killed. What is published is read in order: each event must be attributed to the
 * process that wrote it.
 *
 * Deliberate bugs, one at a time: BUG_PID_LAST (the ring's pid is not cleared before the record is published),
 * BUG_PID_FIRST (the new pid is stored before the record is published), BUG_NO_CHECK.
 */
#ifndef EVENTS
#define EVENTS 3
#endif

byte ring_pid;         /* RingControl::pid */
byte reader_pid;       /* ghost: what a reader of everything published so far believes */
byte running;          /* who is on the CPU; 0: nobody */

/* One instruction, or in its place: preempted, so that the section starts over, or killed. */
#define STEP(action) \
  atomic { \
    running == me || running == 0 -> running = me; \
    if \
    :: true -> action \
    :: aborts < 2 -> aborts++; running = 0; goto start \
    :: true -> running = 0; goto dead \
    fi }

proctype process(byte me) {
  byte events, aborts;
  bool mine;
  do
  :: events < EVENTS ->
start:
#ifndef BUG_NO_CHECK
    STEP(mine = (ring_pid == me))
    if
    :: !mine ->
#ifdef BUG_PID_FIRST
      STEP(ring_pid = me)
      STEP(reader_pid = me)
#else
#ifndef BUG_PID_LAST
      STEP(ring_pid = 0)
#endif
      STEP(reader_pid = me) /* the process record is published */
      STEP(ring_pid = me)
#endif
      atomic { running = 0; goto start }
    :: else
    fi;
#endif
    STEP(assert(reader_pid == me); events++; running = 0) /* the event is published */
  :: else -> break
  od;
dead:
  skip
}

init {
  atomic {
    run process(1);
    run process(2);
    run process(3)
  }
}
