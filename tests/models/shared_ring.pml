/* SPDX-License-Identifier: MIT
 *
 * Model of the shared ring (docs/design/ring.md, section 2): writers that can die or sleep between any two accesses to
 * shared memory, and the consumer with its watchdog (which here may fire at any moment), leaked slots and the last drain.
 * With -DTIME also the clock, holding back and the order of emission (many more states, so fewer hits).
 *
 * What a process does with memory that is its own by the protocol is merged into one step with the access before it;
 * the assertions MINE check that it really is its own.
 *
 * Deliberate bugs, one at a time: BUG_NO_SECOND_LOOK, BUG_ONE_LAP, BUG_PLAIN_CLAIM, BUG_STEAL_BUSY; with TIME also
 * BUG_TIME_BEFORE_CLAIM, BUG_NO_HOLD_BACK, BUG_IGNORE_BUSY, BUG_MARK_FIRST_FREE. With NO_SKIP the consumer does not give up stranded tickets;
 * that is a bug only where all slots can be leaked at once.
 */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef FIRST_HITS
#define FIRST_HITS 1 /* of writer 0 */
#endif
#ifndef OTHER_HITS
#define OTHER_HITS 3 /* of each other writer */
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef LEAKS
#define LEAKS 2 /* times the watchdog may fire */
#endif
#define HITS (FIRST_HITS + (WRITERS - 1) * OTHER_HITS)
#ifndef STEPS
#define STEPS (SLOTS + 2) /* a writer's before it gives up */
#endif
#define NOBODY 255
#ifdef BUG_ONE_LAP
#define LATER_LAP SLOTS
#else
#define LATER_LAP (2 * SLOTS)
#endif

#define FREE 0
#define BUSY 1
#define FULL 2

/* Is a ticket after `at` claimed? Then a free `at` is stranded: a writer went past it. */
#define CLAIMED_AFTER(slot, at) (phase[slot] != FREE && ticket[slot] > (at))
#ifdef NO_SKIP
#define STRANDED(at) false
#elif SLOTS == 4
#define STRANDED(at) \
  (CLAIMED_AFTER(0, at) || CLAIMED_AFTER(1, at) || CLAIMED_AFTER(2, at) || CLAIMED_AFTER(3, at))
#else
#define STRANDED(at) (CLAIMED_AFTER(0, at) || CLAIMED_AFTER(1, at))
#endif

byte ticket[SLOTS]; /* the state word, */
byte phase[SLOTS];  /* always read and written as one */
byte owner[SLOTS];  /* ghost: who may write the slot */
byte hint, consumed;
byte hits, alive = WRITERS, deaths;
byte accounted; /* recorded or discarded, by whoever */

#ifdef TIME
byte slot_time[SLOTS];
byte tsc;
#define STAMP(s) tsc++; slot_time[s] = tsc
#else
#define STAMP(s) skip
#endif

/* One access to shared memory; the writer may die just before it. */
#define STEP(action) \
  atomic { \
    if \
    :: true -> action \
    :: deaths < DEATHS -> deaths++; goto dead \
    fi }
#define MINE assert(owner[s] == me && ticket[s] == t && phase[s] == BUSY)

proctype writer(byte me) {
  byte t, s, seen_ticket, seen_phase, c, steps;
  byte left = (me == 0 -> FIRST_HITS : OTHER_HITS);
  bool unclaimed; /* in a hit that has neither a slot nor a place in a counter */
#ifdef BUG_TIME_BEFORE_CLAIM
  byte early;
#endif

  do
  :: STEP(
      if
      :: left > 0 -> left--; hits++; unclaimed = true
      :: else -> alive--; goto end
      fi;
      t = hint)
#ifdef BUG_TIME_BEFORE_CLAIM
    STEP(tsc++; early = tsc)
#endif
look:
    STEP(
      if
      :: steps == STEPS -> accounted++; goto next_hit /* discarded */
      :: else -> steps++; s = t % SLOTS; seen_ticket = ticket[s]; seen_phase = phase[s]
      fi;
      if
      :: seen_ticket == t && seen_phase != FREE -> t++; goto look
      :: else
      fi)
examine:
    if
    :: seen_ticket == t ->
      STEP(
        if
#ifdef BUG_PLAIN_CLAIM
        :: true -> ticket[s] = t; phase[s] = BUSY; owner[s] = me; unclaimed = false
#else
        :: ticket[s] == t && phase[s] == FREE -> phase[s] = BUSY; owner[s] = me; unclaimed = false
        :: else ->
          seen_ticket = ticket[s]; seen_phase = phase[s];
          if
          :: seen_ticket == t -> t++; goto look
          :: else -> goto examine
          fi
#endif
        fi)
    :: seen_ticket > t -> STEP(if :: consumed > t + 1 -> t = consumed :: else -> t++ fi; goto look)
    :: seen_ticket < t ->
      STEP(c = consumed; if :: seen_ticket >= c -> accounted++; goto next_hit /* full: discarded */ :: else fi)
#ifdef BUG_NO_SECOND_LOOK
      atomic { t++; goto look }
#else
      STEP(if :: ticket[s] == seen_ticket && phase[s] == seen_phase -> t++ :: else fi; goto look)
#endif
    fi;

    atomic { seen_ticket = 0; seen_phase = 0; steps = 0; c = 0 } /* fewer states */
    /* Stored or not, from whatever was loaded before: any of it must do. */
    STEP(if :: hint = t + 1 :: true fi)
#ifdef BUG_TIME_BEFORE_CLAIM
    STEP(MINE; slot_time[s] = early)
#else
    STEP(MINE; STAMP(s))
#endif
    STEP(MINE; phase[s] = FULL; owner[s] = NOBODY)
next_hit:
    atomic { t = 0; s = 0; seen_ticket = 0; seen_phase = 0; c = 0; steps = 0; unclaimed = false }
  od;
dead:
  /* A hit that neither claimed a slot nor was counted did not happen. */
  atomic { alive--; if :: unclaimed -> accounted++ :: else fi }
end:
  skip
}

/* Takes the record of slot s and frees the slot for `next_ticket`. */
inline take(is_late, next_ticket) {
#ifdef TIME
  held_time[held] = slot_time[s]; held_late[held] = is_late; held++;
  slot_time[s] = 0;
#else
  accounted++;
#endif
  ticket[s] = next_ticket; phase[s] = FREE
}

#ifdef TIME
/* Hands out what is not younger than `until`, oldest first. */
inline emit(until) {
  do
  :: held > 0 ->
    best = 0; i = 1;
    do
    :: i < held -> if :: held_time[i] < held_time[best] -> best = i :: else fi; i++
    :: else -> break
    od;
    if
    :: held_time[best] > until -> break
    :: else
    fi;
    if
    :: held_late[best] && held_time[best] < last_time -> skip /* discarded */
    :: else -> assert(held_time[best] >= last_time); last_time = held_time[best]
    fi;
    accounted++;
    held--;
    held_time[best] = held_time[held]; held_late[best] = held_late[held];
    held_time[held] = 0; held_late[held] = false
  :: else -> break
  od;
  best = 0; i = 0
}

/* After a walk: how far emitting is final. All tickets from mark_ticket on were claimed after mark_time was read. */
inline settle() {
  atomic {
    if
    :: at_free -> safe = now; marked = false; mark_ticket = 0; mark_time = 0
    :: !at_free && marked && t >= mark_ticket -> safe = mark_time; marked = false; mark_ticket = 0; mark_time = 0
    :: else
    fi
  }
  if
  :: !at_free && !marked ->
    best = t; /* the end of what is claimed; leaked slots may be some laps ahead */
    do
    :: atomic { i < SLOTS ->
        if
#ifdef BUG_MARK_FIRST_FREE
        :: ticket[(t + i) % SLOTS] == t + i && phase[(t + i) % SLOTS] == FREE -> break
        :: else -> i++; best = t + i
#else
        :: phase[i] != FREE && ticket[i] >= best -> best = ticket[i] + 1; i++
        :: else -> i++
#endif
        fi }
    :: atomic { i == SLOTS -> break }
    od;
    atomic { marked = true; mark_ticket = best; mark_time = now; i = 0; best = 0 }
  :: else
  fi;
  atomic {
#ifdef BUG_NO_HOLD_BACK
    safe = 255;
#endif
#ifdef BUG_IGNORE_BUSY
    safe = now;
#endif
    emit(safe);
    now = 0
  }
}
#endif

active proctype consumer() {
  byte t, s, i, walked, behind, leaks;
  byte next, ahead; /* the last ticket a leaked slot was freed with */
  bool leaked[SLOTS];
  byte leaked_ticket[SLOTS];
#ifdef TIME
  byte held; /* private copies, not handed out yet */
  byte held_time[HITS];
  bool held_late[HITS];
  byte best, now, safe, mark_ticket, mark_time, last_time;
  bool marked, at_free;
#endif

  atomic {
    do
    :: i < SLOTS -> ticket[i] = i; owner[i] = NOBODY; i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < WRITERS -> run writer(i); i++
    :: else -> break
    od;
    i = 0
  }

  do
  :: /* a leaked slot that was committed after all; freed for u, its ticket in [t, t + SLOTS), and on */
    atomic {
      if
      :: leaked[0] && phase[0] == FULL -> s = 0
      :: leaked[1] && phase[1] == FULL -> s = 1
#if SLOTS == 4
      :: leaked[2] && phase[2] == FULL -> s = 2
      :: leaked[3] && phase[3] == FULL -> s = 3
#endif
      fi;
      assert(ticket[s] == leaked_ticket[s]);
      next = t + (s + SLOTS - (t % SLOTS)) % SLOTS + LATER_LAP;
      do
      :: next <= ahead -> next = next + SLOTS
      :: else -> break
      od;
      ahead = next;
      take(true, next);
      leaked[s] = false; leaked_ticket[s] = 0; s = 0; next = 0
    }
  :: /* a drain */
    atomic {
      alive > 0 -> skip;
#ifdef TIME
      now = tsc
#endif
    }
    do
    :: atomic { walked < SLOTS -> s = t % SLOTS; walked++;
        if
        :: ticket[s] > t -> t++
        :: ticket[s] < t -> assert(leaked[s]); t++; behind++
        :: ticket[s] == t && phase[s] == FREE && !STRANDED(t) -> break
        :: ticket[s] == t && phase[s] == FREE && STRANDED(t) -> ticket[s] = t + SLOTS; t++
        :: ticket[s] == t && phase[s] == FULL -> take(false, t + SLOTS); t++
        :: ticket[s] == t && phase[s] == BUSY -> break
        :: ticket[s] == t && phase[s] == BUSY && leaks < LEAKS -> leaks++; /* the watchdog */
#ifdef BUG_STEAL_BUSY
          accounted++; ticket[s] = t + SLOTS; phase[s] = FREE; t++
#else
          leaked[s] = true; leaked_ticket[s] = t; t++
#endif
        fi }
    :: atomic { walked == SLOTS -> break }
    od;
    atomic {
      s = 0; walked = 0;
      if
      :: behind == SLOTS -> t = t - SLOTS /* every slot is leaked: stay */
      :: else
      fi;
      behind = 0;
      consumed = t
    }
#ifdef TIME
    /* a look of its own: the walk may have ended by its limit */
    at_free = (ticket[t % SLOTS] == t && phase[t % SLOTS] == FREE && !STRANDED(t));
    settle();
    at_free = false
#endif
  :: atomic { alive == 0 -> break }
  od;

  /* The last drain: busy means dead. By the head, which must come to everything (the code takes slot by slot). */
  atomic {
    do
    :: walked < 8 * SLOTS ->
      s = t % SLOTS; walked++;
      if
      :: ticket[s] != t -> skip
      :: ticket[s] == t && phase[s] == FREE && !STRANDED(t) -> break
      :: ticket[s] == t && phase[s] == FREE && STRANDED(t) -> ticket[s] = t + SLOTS
      :: ticket[s] == t && phase[s] == FULL -> take(false, t + SLOTS)
      :: ticket[s] == t && phase[s] == BUSY -> leaked[s] = true
      fi;
      t++
    :: else -> break
    od;
    s = 0;
    do
    :: s < SLOTS ->
      if
      :: leaked[s] && phase[s] == FULL -> take(true, 255)
      :: leaked[s] && phase[s] == BUSY -> accounted++
      :: else
      fi;
      s++
    :: else -> break
    od;
#ifdef TIME
    emit(255);
#endif
    assert(hits == HITS || deaths > 0);
    assert(accounted == hits)
  }
}
