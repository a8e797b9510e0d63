/* SPDX-License-Identifier: MIT
 *
 * Model of the valid ranges (docs/design/safe_reads.md): sections that read, threads that unmap and map, and blip, which
 * publishes what it saw mapped, maybe not all of it. A range is given up from the page on that is taken away. A membarrier reaches one section after the other; a section that it
 * has reached does nothing more, unless it is in the kernel, in a page fault: then the kernel looks for the page first.
 * The property: no load from a page that is not mapped.
 *
 * Deliberate bugs, one at a time: BUG_NO_MEMBARRIER, BUG_NO_RECHECK (of the publication a hint was found in),
 * BUG_COUNT_LATE (the generation changes before the call is counted as under way), BUG_NO_GENERATION (blip publishes
 * whatever began meanwhile), BUG_IGNORE_PENDING, BUG_NOT_ALONE (who cut nothing needs no membarrier, even if others are
 * under way), BUG_ALONE_BEFORE (or came since), BUG_END_EARLY (a call is counted as over before it is), BUG_CUT_FIRST (in the table that was current before), BUG_NO_WAIT (for
 * sections that are in a page fault), BUG_WAIT_FIRST (before the membarrier), BUG_TRUST_CUT (nobody
 * reads what was given up with something else), BUG_NOT_SETTLED (nobody reads by an earlier publication), BUG_SETTLED_LATE
 * (the readers are looked at before a membarrier of another thread, which is believed then).
 */
#ifndef UNMAPPERS
#define UNMAPPERS 2
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef PAGES
#define PAGES 1
#endif
#ifndef UNMAPS
#define UNMAPS 2
#endif
#ifndef PUBLICATIONS
#define PUBLICATIONS 3
#endif
#define ENTRY(table, page) ((table) * PAGES + (page))

bool mapped[PAGES];
bool valid[2 * PAGES];
byte publication = 1; /* the low half of the word: its last bit is the table */
byte generation;      /* the high half */
byte pending;
bool inside[READERS], restart[READERS];
#define NOWHERE PAGES
byte reading[READERS]; /* where a section reads, or its last one did */
byte settled;          /* the last publication after which all sections were restarted */

/* One instruction of a section, unless it was restarted. */
#define STEP(action) \
  atomic { \
    if \
    :: restart[me] -> restart[me] = false; inside[me] = false; goto over \
    :: else -> action \
    fi }

proctype reader(byte me) {
  byte page, hint;
  bool found;
again:
  atomic { if :: page = 0 :: PAGES > 1 -> page = PAGES - 1 fi; hint = publication } /* found outside of the section */
  atomic { inside[me] = true; restart[me] = false }
  STEP(found = valid[ENTRY(hint & 1, page)])
#ifndef BUG_NO_RECHECK
  STEP(found = found && publication == hint)
#endif
  STEP(reading[me] = page) /* stored earlier, but seen by others maybe only now */
  STEP(skip) /* the load: a page fault */
  atomic { assert(!found || mapped[page]); restart[me] = false; inside[me] = false } /* the kernel's look, whatever came meanwhile */
over:
  goto again
}

/* For those that read there: until they have been seen outside of their sections. */
#define WAIT \
  r = 0; \
  do \
  :: r < READERS -> atomic { reading[r] != page || !inside[r] -> r++ } \
  :: else -> r = 0; break \
  od;

proctype unmapper() {
  byte page, unmaps, others, table, r;
  bool was_valid, is_read, is_settled;
  do
  :: unmaps < UNMAPS ->
    atomic { unmaps++; r = 0; if :: page = 0 :: PAGES > 1 -> page = PAGES - 1 fi }
#ifdef BUG_CUT_FIRST
    table = publication & 1;
#endif
#ifdef BUG_COUNT_LATE
    atomic { generation++; table = publication & 1 }
    atomic { others = pending; pending++ }
#else
    atomic { others = pending; pending++ }
#ifdef BUG_CUT_FIRST
    atomic { generation++ }
#else
    atomic { generation++; table = publication & 1 } /* one locked add of the word */
#endif
#endif
    atomic {
      was_valid = valid[ENTRY(table, page)]; valid[ENTRY(table, page)] = false;
      if :: PAGES > 1 && page == 0 -> was_valid = was_valid || valid[ENTRY(table, PAGES - 1)]; valid[ENTRY(table, PAGES - 1)] = false :: else fi }
#ifndef BUG_ALONE_BEFORE
    atomic { others = pending - 1 }
#endif
#ifdef BUG_END_EARLY
    atomic { pending-- }
#endif
#ifdef BUG_WAIT_FIRST
    WAIT
#endif
#ifndef BUG_NO_MEMBARRIER
    atomic { is_read = false; is_settled = (settled == publication) }
#ifndef BUG_TRUST_CUT
    do
    :: r < READERS -> atomic { is_read = is_read || reading[r] == page; r++ }
    :: else -> r = 0; break
    od;
#endif
    if
#ifdef BUG_NOT_ALONE
    :: was_valid ->
#else
#ifdef BUG_SETTLED_LATE
    :: was_valid || others != 0 || is_read || settled != publication ->
#elif defined(BUG_NOT_SETTLED)
    :: was_valid || others != 0 || is_read ->
#else
    :: was_valid || others != 0 || is_read || !is_settled ->
#endif
#endif
      do
      :: r < READERS -> atomic { restart[r] = inside[r]; r++ }
      :: else -> break
      od;
      settled = publication;
#if !defined(BUG_NO_WAIT) && !defined(BUG_WAIT_FIRST)
      WAIT
#endif
    :: else
    fi;
#endif
    mapped[page] = false;
#ifndef BUG_END_EARLY
    atomic { pending-- }
#endif
    if
    :: mapped[page] = true /* something new at the same place */
    :: true
    fi
  :: else -> break
  od
}

proctype blip() {
  byte i, page, seen_publication, seen_generation;
  bool seen[PAGES];
  do
  :: i < PUBLICATIONS ->
    atomic { i++; page = 0; seen_publication = publication; seen_generation = generation } /* one load */
#ifndef BUG_IGNORE_PENDING
    if
    :: pending != 0 -> goto next
    :: else
    fi;
#endif
    do
    :: page < PAGES -> atomic { if :: seen[page] = mapped[page] :: seen[page] = false fi; page++ } /* /proc/PID/maps */
    :: else -> page = 0; break
    od;
    do
    :: page < PAGES -> atomic { valid[ENTRY((seen_publication + 1) & 1, page)] = seen[page]; page++ }
    :: else -> break
    od;
    atomic { /* compare and swap of the word */
      if
#ifdef BUG_NO_GENERATION
      :: publication == seen_publication -> publication++
#else
      :: publication == seen_publication && generation == seen_generation -> publication++
#endif
      :: else
      fi }
next:
    skip
  :: else -> break
  od
}

init {
  atomic {
    byte i = 0;
    do :: i < PAGES -> mapped[i] = true; i++ :: else -> break od;
    i = 0;
    do :: i < READERS -> reading[i] = NOWHERE; i++ :: else -> break od;
#ifdef SETTLED /* a publication, and a call after it, have been */
    i = 0;
    do :: i < PAGES -> valid[ENTRY(publication & 1, i)] = true; i++ :: else -> break od;
    settled = publication;
#endif
    i = 0;
    do :: i < READERS -> run reader(i); i++ :: else -> break od;
    i = 0;
    do :: i < UNMAPPERS -> run unmapper(); i++ :: else -> break od;
    run blip()
  }
}
