/* SPDX-License-Identifier: MIT
 *
 * Model of the rseq ring (docs/design/ring.md, section 1): the threads that take turns on one CPU, and the consumer on
 * another one. Inside a section only two things can happen to a thread: its next instruction, or an abort (preemption,
 * signal, migration), after which the hit goes elsewhere. So the CPU is one process that may abort before every
 * instruction; between the hit's section and the switch section a thread may also be set aside while others run.
 *
 * A word of the model is 8 bytes of the ring. Records have 1 to 3 words, a sub-buffer 4, the ring 2 sub-buffers.
 * Deliberate bugs, one at a time: BUG_PUBLISH_FIRST, BUG_NO_ROOM_CHECK, BUG_NOT_STRICT, BUG_CONSUME_BEFORE_COPY,
 * BUG_NO_ABORT.
 */
#ifndef HITS
#define HITS 5
#endif
#ifndef ALL_SIZES
#define ALL_SIZES false /* records of 1 and 3 words only */
#endif
#define SUBBUF 4
#define RING (2 * SUBBUF)
#define PADDING 0
#define HEADER(id, size) (((id) + 1) * 4 + (size)) /* size 1..3 in the low bits */
#define PAYLOAD(id) (128 + (id))

#ifdef BUG_NOT_STRICT
#define FITS(p, n) (((p) % SUBBUF) + (n) <= SUBBUF)
#else
#define FITS(p, n) (((p) % SUBBUF) + (n) < SUBBUF)
#endif

byte pos, consumed;
byte data[RING];

bool cpu_done;
byte discarded, elsewhere, recorded;
chan published = [16] of { byte }; /* ghost: ids in the order of publication */

/* One instruction of a section, or the abort in its place. */
#define STEP(action) \
  atomic { \
    if \
    :: true -> action \
    :: true -> goto on_abort \
    fi }

active proctype cpu() {
  byte hits, id, size, p, i, next;
  byte aside_id, aside_size = 0; /* a thread preempted before its switch section; size 0: none */
#ifdef BUG_NO_ABORT
  byte stale_pos = 0; /* a preempted section that goes on as if nothing had happened */
#endif

  do
  :: atomic { hits < HITS -> id = hits; hits++; 
      if :: size = 1 :: size = 3 :: ALL_SIZES -> size = 2 fi }
start:
    STEP(p = pos)
    if
    :: FITS(p, size) ->
#ifdef BUG_PUBLISH_FIRST
      STEP(pos = p + size; published ! id)
#endif
      do
      :: i < size -> STEP(data[(p + i) % RING] = (i == 0 -> HEADER(id, size) : PAYLOAD(id)); i++)
      :: else -> break
      od;
#ifndef BUG_PUBLISH_FIRST
      STEP(pos = p + size; published ! id);
#endif
      goto over
    :: else
    fi;
    if
    :: true -> skip
    :: atomic { aside_size == 0 && hits < HITS -> aside_id = id; aside_size = size; goto next_thread }
    fi;
switch:
    STEP(p = pos; next = (p / SUBBUF + 1) * SUBBUF)
#ifndef BUG_NO_ROOM_CHECK
    atomic {
      if
      :: next + SUBBUF - consumed <= RING -> skip
      :: else -> discarded++; goto over
      :: true -> goto on_abort
      fi }
#endif
    STEP(data[p % RING] = PADDING)
    STEP(pos = next; i = 0; goto start);
on_abort:
#ifdef BUG_NO_ABORT
    atomic {
      if
      :: stale_pos == 0 && i == size -> stale_pos = p + size; published ! id; goto over
      :: else
      fi }
#endif
    elsewhere++;
over:
    skip;
next_thread:
    atomic { id = 0; size = 0; p = 0; i = 0; next = 0 } /* fewer states */
#ifdef BUG_NO_ABORT
    if
    :: stale_pos != 0 -> pos = stale_pos; stale_pos = 0
    :: true
    fi
#endif
  :: atomic { aside_size != 0 -> id = aside_id; size = aside_size; aside_id = 0; aside_size = 0; goto switch }
  :: atomic { hits == HITS && aside_size == 0 -> break }
  od;
  cpu_done = true
}

active proctype consumer() {
  byte p, end, limit, i, n, id, expected;
  byte copy[SUBBUF];
  bool done, whole, padded;

  do
  :: done = cpu_done;
    p = pos;
    assert(p >= consumed && p - consumed <= RING);
    do
    :: consumed != p ->
      atomic {
        end = (consumed / SUBBUF + 1) * SUBBUF;
        whole = (p >= end);
        if :: whole -> limit = end :: else -> limit = p fi;
        n = consumed; i = 0
      }
#ifdef BUG_CONSUME_BEFORE_COPY
      consumed = limit;
#endif
      do
      :: n + i < limit -> atomic { copy[i] = data[(n + i) % RING]; i++ }
      :: else -> break
      od;
      atomic {
        end = limit - n; i = 0; padded = false;
        do
        :: !padded && i < end ->
          if
          :: copy[i] == PADDING -> padded = true; assert(whole)
          :: else ->
            assert(copy[i] < 128); /* a header, not a payload */
            n = copy[i] % 4; id = copy[i] / 4 - 1;
            assert(n >= 1 && i + n <= end);
            assert(n < 2 || copy[i + 1] == PAYLOAD(id));
            assert(n < 3 || copy[i + 2] == PAYLOAD(id));
            assert(nempty(published));
            published ? expected;
            assert(id == expected);
            recorded++;
            i = i + n
          fi
        :: else -> break
        od;
        assert(padded == whole);
        copy[0] = 0; copy[1] = 0; copy[2] = 0; copy[3] = 0;
        end = 0; i = 0; n = 0; id = 0; expected = 0; padded = false; whole = false
      }
      consumed = limit
    :: else -> break
    od;
    if
    :: done -> break
    :: else
    fi
  od;
  assert(empty(published));
  assert(recorded + discarded + elsewhere == HITS)
}
