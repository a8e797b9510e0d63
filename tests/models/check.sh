#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the protocols (docs/design/ring.md, safe_reads.md) exhaustively with spin, and that each deliberate bug is found, so that
# a pass means something. Fails on an error, on an incomplete search and on a bug that goes unnoticed.
# usage: tests/models/check.sh [rseq|shared|reads|large]      (needs spin and gcc; a few minutes on one core)
set -eu

models=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# explore MODEL FLAGS...: leaves pan's output in $work/out
explore() {
  model=$1
  shift
  (cd "$work" && spin -a "$@" "$models/$model.pml" >spin.out && gcc -w -O2 -DSAFETY -DMEMLIM=4096 -o pan pan.c &&
    ./pan -m1000000 -n >out 2>&1) || { cat "$work/spin.out" "$work/out" 2>/dev/null || true; return 1; }
}

states() { awk '/states, stored/ { print $1; exit }' "$work/out"; }

holds() {
  if explore "$@" && grep -q 'errors: 0' "$work/out" &&
     ! grep -q -e 'Search not completed' -e 'max search depth' -e 'MEMLIM' "$work/out"; then
    echo "holds: $* ($(states) states)"
  else
    echo "FAILED: $*" >&2
    cat "$work/out" >&2
    failed=1
  fi
}

finds() {
  if explore "$@" && grep -q 'assertion violated' "$work/out"; then
    echo "finds: $*"
  else
    echo "NOT FOUND: $*" >&2
    failed=1
  fi
}

check_rseq() {
  holds rseq_ring
  holds rseq_ring -DHITS=4 -DALL_SIZES=true
  for bug in PUBLISH_FIRST NO_ROOM_CHECK NOT_STRICT CONSUME_BEFORE_COPY NO_ABORT; do
    finds rseq_ring -DBUG_$bug
  done
  holds process_record
  for bug in PID_LAST PID_FIRST NO_CHECK; do
    finds process_record -DBUG_$bug
  done
}

check_shared() {
  # One writer laps the ring while the other sleeps; then both busy; all slots leaked; three writers; four slots.
  holds shared_ring -DLEAKS=1 -DDEATHS=1
  holds shared_ring -DLEAKS=1 -DFIRST_HITS=2 -DOTHER_HITS=2
  holds shared_ring -DLEAKS=2 -DOTHER_HITS=2
  holds shared_ring -DLEAKS=1 -DWRITERS=3 -DOTHER_HITS=1 -DDEATHS=1
  holds shared_ring -DLEAKS=1 -DSLOTS=4 -DOTHER_HITS=5
  holds shared_ring -DLEAKS=2 -DSLOTS=4 -DFIRST_HITS=2 -DOTHER_HITS=3
  holds shared_ring -DLEAKS=2 -DWRITERS=3 -DOTHER_HITS=1 -DSTEPS=6 # all leaked, and one walks on over them
  holds shared_ring -DTIME -DLEAKS=1 -DOTHER_HITS=2
  # A run that strands a ticket although not all slots were leaked is a bug, whether the ticket would be given up or not.
  holds shared_ring -DLEAKS=1 -DOTHER_HITS=2 -DDEATHS=1 -DNO_SKIP
  for bug in ONE_LAP NO_SECOND_LOOK PLAIN_CLAIM STEAL_BUSY; do
    finds shared_ring -DLEAKS=1 -DNO_SKIP -DBUG_$bug
  done
  finds shared_ring -DLEAKS=2 -DWRITERS=3 -DOTHER_HITS=1 -DSTEPS=6 -DNO_SKIP
  finds shared_ring -DTIME -DLEAKS=2 -DWRITERS=3 -DOTHER_HITS=1 -DSTEPS=6 -DBUG_MARK_FIRST_FREE
  for bug in TIME_BEFORE_CLAIM NO_HOLD_BACK IGNORE_BUSY; do
    finds shared_ring -DTIME -DLEAKS=1 -DOTHER_HITS=1 -DBUG_$bug
  done
}

check_reads() {
  holds safe_reads -DUNMAPS=1 -DPUBLICATIONS=2
  holds safe_reads -DSETTLED -DPAGES=2 -DUNMAPS=1 -DPUBLICATIONS=1
  holds safe_reads -DREADERS=2 -DUNMAPPERS=1 -DPUBLICATIONS=1
  for bug in NO_MEMBARRIER NO_RECHECK COUNT_LATE NO_GENERATION IGNORE_PENDING NOT_ALONE END_EARLY CUT_FIRST NO_WAIT WAIT_FIRST; do
    finds safe_reads -DBUG_$bug
  done
  holds safe_reads -DSETTLED -DPUBLICATIONS=1
  finds safe_reads -DSETTLED -DPUBLICATIONS=0 -DBUG_ALONE_BEFORE
  finds safe_reads -DPAGES=2 -DPUBLICATIONS=1 -DBUG_TRUST_CUT
  finds safe_reads -DBUG_NOT_SETTLED
  finds safe_reads -DBUG_SETTLED_LATE
}

case ${1:-all} in
  rseq) check_rseq ;;
  shared) check_shared ;;
  reads) check_reads ;;
  large) holds safe_reads -DPUBLICATIONS=2; holds safe_reads -DREADERS=2 -DUNMAPS=1 -DPUBLICATIONS=1 ;; # minutes, and 3 GiB
  all) check_rseq; check_shared; check_reads ;;
  *) echo "usage: $0 [rseq|shared|reads|large]" >&2; exit 2 ;;
esac
exit $failed
