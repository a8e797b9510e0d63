# SPDX-License-Identifier: MIT
# Structures that are passed and returned by value: in registers, and in pieces of them.
as: both
target: by_value 10

case: bit-fields in two registers
run: blip trace -p $PID --function take_fields --args --max-events 3
expect-match: take_fields: \{ v = \{ a = 0, b = 0, c = 0 \} \}
expect-match: take_fields: \{ v = \{ a = 2, b = -2, c = 4 \} \}

case: bit-fields in two registers, not optimized
target: by_value_o0 10
run: blip trace -p $PID --function take_fields --args --max-events 3
expect-match: take_fields: \{ v = \{ a = 2, b = -2, c = 4 \} \}

case: a filter on a bit-field in two registers
run: blip record -p $PID --function take_fields --filter 'v.b == -7' --capture 'a = v.a, c = v.c' -o t
reads:
check: [(e.a, e.c) for e in events()] == [(7, 14)]

case: a bit-field that touches nine bytes
run: blip trace -p $PID --function take_tight --filter 'v.wide == -7 && v.head == 7' --args
expect-match: take_tight: \{ v = \{ head = 7, wide = -7, tail = 21 \} \}

case: bit-fields that are returned in two registers
run: blip trace -p $PID --return give_fields --filter '$return.b == -7' --capture '$return'
expect-match: \$return = \{ a = 7, b = -7, c = 14 \}

case: a structure whose parts the compiler keeps in a frame that is not there yet
run: blip trace -p $PID --function scale --args
expect-match: scale: \{ v = \{ x = 0, y = -?0, z = 0 \}, k = 1 \}
expect-match: scale: \{ v = \{ x = 7, y = -7, z = 14 \}, k = 8 \}

case: a filter on such a structure
run: blip record -p $PID --function scale --filter 'v.y == -7' --capture 'z = v.z, k' -o t
reads:
check: [(e.z, e.k) for e in events()] == [(14, 8)]

case: complex and wide numbers, and parameters that are not used
run: blip trace -p $PID --function magnitude --filter '$xmm0 == 7.0' --args --function fold --filter 'v.x == 7.0' --args
expect-match: magnitude: \{ c = \{ real = 7, imag = 14 \}, d = \{ real = 21, imag = -7 \} \}
expect-match: fold: \{ wide = \{ \[0\] = 5, \[1\] = 7 \}, unused = -7, v = \{ x = 7, y = 7, z = 7 \} \}

case: a copy with parameters of its own shows no others
run: blip trace -p $PID --function 'only_a*' --args --json
expect-match: "missing":\{"/args/unused":"not told at the entry"\}
