#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every fuzzer for some seconds, each from its small corpus in tests/fuzz. New inputs are kept in BUILD/fuzz; a crash
# stops it and names the input.  usage: scripts/fuzz.sh BUILD SECONDS [SEED]
set -eu
build=$1 seconds=$2 seed=${3:-0}
root=$(cd "$(dirname "$0")/.." && pwd)
count=0
for source in $(find "$root/src" -name "*_fuzz.cc" | sort); do
  name=$(basename "$source" _fuzz.cc)
  found=$build/fuzz/$name
  mkdir -p "$found"
  echo "--- $name, $seconds s"
  UBSAN_OPTIONS=print_stacktrace=1 "$build/${name}_fuzz" -max_total_time="$seconds" -seed="$seed" -timeout=10 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="$found/crash-" "$found" "$root/tests/fuzz/$name" 2>"$found.log" ||
    { tail -50 "$found.log"; exit 1; }
  grep number_of_executed_units "$found.log"
  count=$((count + 1))
done
echo "$count fuzzers, no crash"
