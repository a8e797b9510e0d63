#!/bin/sh
# SPDX-License-Identifier: MIT
# Shows blip on a live server, step by step. usage: scripts/demo.sh [BUILD_DIR]   (default: build)
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-build}" && pwd)
blip=$build/blip
[ -x "$blip" ] || { echo "demo: no $blip: run make build first" >&2; exit 1; }

work=$(mktemp -d)
server_pid=
finish() {
  if [ -n "$server_pid" ]; then
    kill "$server_pid" 2>/dev/null || true
    wait "$server_pid" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# Bold where a terminal reads.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi
step() { printf '\n%s== %s%s\n' "$bold" "$1" "$plain"; }
# Shows a command the way one would type it, then runs it; its output may go to a file.
exec 3>&1
run() {
  printf '%s$ blip%s%s\n' "$bold" "$(printf ' %s' "$@" | sed "s/[^ ]*[*>][^ ]*/'&'/g")" "$plain" >&3
  "$blip" "$@"
}

step "A server: C, -O2, three workers, nothing special done to it (examples/server.c)"
gcc -O2 -g -pthread "$here/examples/server.c" -o "$work/server"
"$work/server" 120 >"$work/server.out" &
server_pid=$!
sleep 0.3
echo "server runs as process $server_pid"

step "Watch calls of two functions, with their first argument, for a second (the first ten lines of it)"
run trace -p "$server_pid" --function 'handle_*' --context reg:rdi --function parse_request --duration 1s \
  >"$work/trace.txt"
head -n 10 "$work/trace.txt"
echo "... $(wc -l <"$work/trace.txt") lines in all"

step "What is in their arguments, by name and type, of keys above 4 (the first six lines of a second)"
run trace -p "$server_pid" --function parse_request --args --function handle_put \
  --capture 'request->key,request->value,*request' --filter 'request->key>4' --duration 1s >"$work/data.txt"
head -n 6 "$work/data.txt"
echo "... $(wc -l <"$work/data.txt") lines in all"

step "Record two seconds of it, with thread, command and CPU, into a CTF trace"
run record -p "$server_pid" --context tid,comm,cpu --function '*_request' --function 'handle_*' --duration 2s \
  -o "$work/trace"
echo "the trace: $(find "$work/trace" -type f | wc -l) files, $(du -sh "$work/trace" | cut -f1)"

step "Read the trace (babeltrace2 and Trace Compass read it too)"
run view "$work/trace" >"$work/view.txt"
head -n 8 "$work/view.txt"
echo "... $(wc -l <"$work/view.txt") events in all"

step "Events per function in that trace"
grep -oE '(parse|serve)_request|handle_[a-z]+' "$work/view.txt" | sort | uniq -c | sort -rn

step "Count calls of all the server's functions for a second: nothing is recorded"
run count -p "$server_pid" --function '*_request' --function 'handle_*' --function lookup_item \
  --function render_reply --duration 1s

step "What is left in the server? Its code is compared with the file, its memory searched for blip's"
# A line of maps: 55d0c8a01000-55d0c8a02000 r-xp 00001000 fe:01 1234 /tmp/x/server
code=$(grep "r-xp.*$work/server" "/proc/$server_pid/maps")
start=${code%%-*} end=${code#*-} offset=${code#* r-xp }
start=$((0x$start)) end=$((0x${end%% *})) offset=$((0x${offset%% *}))
pages() { dd bs=4096 if="$1" skip=$(($2 / 4096)) count=$(((end - start) / 4096)) status=none; }
pages "/proc/$server_pid/mem" "$start" >"$work/code.memory"
pages "$work/server" "$offset" >"$work/code.file"
cmp "$work/code.memory" "$work/code.file" || { echo "demo: the server's code was not restored" >&2; exit 1; }
if grep blip "/proc/$server_pid/maps"; then echo "demo: memory of blip's is left in the server" >&2; exit 1; fi
echo "code: as in the file; mappings of blip's: none; the server goes on working:"
kill "$server_pid"
status=0
wait "$server_pid" || status=$?
server_pid=
cat "$work/server.out"
[ "$status" = 0 ] || { echo "demo: the server ended with status $status" >&2; exit 1; }
