# SPDX-License-Identifier: MIT
# --context TYPE:NAME:ADDR: values in memory, without any debugging information.
as: both
target: typed_bare 4

case: an integer by its symbol
run: blip record -p $PID --function handle --context int:counter:global_counter -o t
reads:
exact:
check: [e.counter for e in events()] == [40, 41, 42, 43]

case: a string and an integer by their addresses
run: blip record -p $PID --function handle --context string:words:$text --context uint32:n:$counter -o t
reads:
exact:
check: {e.words for e in events()} == {"a text at a known address"}
check: [e.n for e in events()] == [40, 41, 42, 43]

case: every type
run: blip record -p $PID --function handle --context int8:a:global_counter --context uint8:b:global_counter
  --context int16:c:global_counter --context uint64:d:global_counter --context long:e:global_counter
  --context pointer:f:global_counter --context double:g:global_ratio --context bytes[4]:h:global_text+2
  --context float:i:global_ratio+4 -o t
reads:
exact:
check: [(e.a, e.b, e.c) for e in events()] == [(n, n, n) for n in (40, 41, 42, 43)]
check: {e.g for e in events()} == {2.5}

case: a symbol that is not there
run: blip record -p $PID --function handle --context int:counter:nothing_of_the_kind -o t
expect-exit: 1
expect-stderr: no variable or function is named nothing_of_the_kind

case: an address that is none
run: blip record -p $PID --function handle --context int:counter:12zz -o t
expect-exit: 2
expect-stderr: '12zz' is no address

case: an address that cannot be read is no harm
run: blip record -p $PID --function handle --context int:bad:16 --context string:worse:0x1000 -o t
reads:
exact:
check: {(e.bad, e.worse) for e in events()} == {(0, "")}

case: beside registers and threads
run: blip trace -p $PID --function handle --context reg:rsi,string:words:global_text,tid --max-events 2
expect-match: handle: \{ rsi = 0x0, words = "a text at a known address" \}
