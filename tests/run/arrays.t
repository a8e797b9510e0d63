# SPDX-License-Identifier: MIT
# Arrays of known and of computed lengths, and such as may go on behind their end.
as: both
target: arrays 3

case: a constant index beyond the end is refused, whatever the array is reached by
run: blip trace -p $PID --function look --capture 'numbers[5]'
usage: the array has 5 elements
run: blip trace -p $PID --function look --capture 'g->m[1][7]'
usage: the array has 4 elements
run: blip trace -p $PID --function look --filter 'g->name[8] == 0'
usage: the array has 8 elements
run: blip trace -p $PID --function look --capture 'numbers[2..9]'
usage: the array has 5 elements

case: a computed one finds nothing
run: blip trace -p $PID --function look --capture 'a = numbers[n + 2], b = g->m[n], c = numbers[n..n + 2], d = numbers[n - 2]' --max-events 3
expect-match: look: \{ a = 4, b = \[ 5, 6, 7, 8 \], c = \[ 2, 3 \], d = <bad address> \}
expect-match: look: \{ a = 5, b = \[ 9, 10, 11, 12 \], c = \[ 3, 4 \], d = 1 \}
expect-match: look: \{ a = <bad address>, b = <bad address>, c = \[ 4, 5 \], d = 2 \}

case: pointers and arrays that end a structure go on
run: blip trace -p $PID --function look --capture 'a = p[4], b = f->tail[9], c = o->text[5], d = (&numbers[0])[n + 1]' --max-events 1
expect-match: look: \{ a = 104, b = 109, c = 'f' \(102\), d = 3 \}

case: lengths that are computed, not optimized
target: arrays_o0 3
run: blip trace -p $PID --line arrays.c:36 --locals --max-events 2
expect-match: \{ fixed = \[ 1, 2, 3, 4 \], some = \[ 0, 10, 20 \], rows = \[ \[ 0, 0.5, 1 \] \], text = "bb"\.\.\. \}
expect-match: \{ fixed = \[ 2, 3, 4, 5 \], some = \[ 0, 10, 20, 30 \], rows = \[ \[ 0, 0.5, 1 \], \[ 1, 1.5, 2 \] \], text = "ccc"\.\.\. \}

case: lengths that are computed, not optimized, clang
target: arrays_clang 3
run: blip trace -p $PID --line arrays.c:36 --locals --max-events 2
expect-match: \{ fixed = \[ 1, 2, 3, 4 \], some = \[ 0, 10, 20 \], rows = \[ \[ 0, 0.5, 1 \] \], text = "bb"\.\.\. \}
expect-match: \{ fixed = \[ 2, 3, 4, 5 \], some = \[ 0, 10, 20, 30 \], rows = \[ \[ 0, 0.5, 1 \], \[ 1, 1.5, 2 \] \], text = "ccc"\.\.\. \}

case: lengths that are computed, optimized
run: blip trace -p $PID --line arrays.c:36 --capture 'some, rows' --max-events 2
expect-match: \{ some = \[ 0, 10, 20 \], rows = \[ \[ 0, 0.5, 1 \] \] \}
expect-match: \{ some = \[ 0, 10, 20, 30 \], rows = \[ \[ 0, 0.5, 1 \], \[ 1, 1.5, 2 \] \] \}

case: expressions on such arrays
target: arrays_o0 3
run: blip record -p $PID --line arrays.c:36 --filter 'some[n + 1] == 30' --capture 'last = some[n + 1], beyond = some[n + 2], row = rows[n - 1][2], size = sizeof(some)' -o t
reads:
check: [(e.last, e.row, e.size, e.faults) for e in events()] == [(30, 2, 16, 2)]
