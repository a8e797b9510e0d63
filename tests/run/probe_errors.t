# SPDX-License-Identifier: MIT
# Bad input of --probe, --line and --every-instruction: each a line that names what is there instead, the target untouched.
target: steps 10

case: the middle of an instruction
as: both
run: blip count -p $PID --probe straight+2
error: straight+2: inside "lea, which begins at straight+0x0

case: the middle of an instruction, by its address
sh: exec blip count -p $PID --probe $$(printf '%#x' $$(($straight + 5)))
error: inside "add %rdi, which begins at straight+0x4

case: data
sh: exec blip count -p $PID --probe $$(printf '%#x' $data)
error: data (.data of steps), not code

case: anonymous memory
sh: exec blip count -p $PID --probe 0x$$(grep '\[stack\]' /proc/$PID/maps | cut -d- -f1)
error: data ([stack]), not code

case: a PLT
sh: exec blip count -p $PID --probe steps+0x$$(objdump -h $TARGETS/steps | awk '$$2 == ".plt" { print $$4 }')
error: in a PLT (.plt of steps), probe that function itself

case: the vDSO
sh: exec blip count -p $PID --probe 0x$$(grep '\[vdso\]' /proc/$PID/maps | cut -d- -f1)
error: in the vDSO, code of the kernel's that all processes share

case: nothing mapped
run: blip count -p $PID --probe 0x20
error: 0x20: nothing is mapped there

case: the file's own address, taken for one of the process
sh: exec blip count -p $PID --probe 0x$$(nm $TARGETS/steps | awk '$$3 == "straight" { print $$1 }')
error: nothing is mapped there, is written steps+0x

case: past the end of the function
run: blip count -p $PID --probe straight+0x100
error: straight+0x100: past the end of straight, which is 0xf bytes long

case: between functions
run: blip count -p $PID --probe straight+0xf
error: past the end of straight

case: an address between functions
sh: exec blip count -p $PID --probe $$(printf '%#x' $$(($straight + 15)))
error: in no known function of steps, the nearest before it is straight, 0x0 bytes before

case: no such address in the file
run: blip count -p $PID --probe steps+0x7fffffff
error: steps+0x7fffffff: steps has nothing at that address

case: a name that nobody has
run: blip count -p $PID --probe straigth+4
error: nearest: straight

case: several functions of one name
target: twins 10
run: blip count -p $PID --probe twin+1
error: twin+1: 2 functions are called twin, one of twins+0x

case: each of them can be named
target: twins 10
sh: nm $TARGETS/twins | awk '$$3 == "twin" { printf "--probe twins+0x%s ", $$1 }' > probes
sh: exec blip count -q -p $PID $$(cat probes) --duration 100ms
check: out.count("twin+0x0") == 2

case: a pattern
run: blip count -p $PID --probe straight*
usage: a probe is one instruction

case: an address with a module
run: blip count -p $PID --probe steps:0x1000
usage: written steps+0x1000

case: an offset that is no number
run: blip count -p $PID --probe straight+x
usage: a number must follow

case: an instruction of a library that is not loaded
run: blip count -p $PID --probe libz.so.1:inflate+4
error: no module 'libz.so.1' is loaded

case: every instruction of a function that holds data
run: blip count -p $PID --every-instruction quirky
error: nothing can be armed: quirky: the bytes at quirky+0x5 are no instruction

case: every instruction takes functions
run: blip count -p $PID --every-instruction straight+4
usage: --every-instruction takes functions, --probe straight+4

case: more instructions than --max-probes
run: blip count -p $PID --every-instruction * --max-probes 5
usage: instructions match, more than 5, --max-probes

case: a line without code names its neighbours
target: lines 10
run: blip count -p $PID --line lines.c:$empty
error: no code comes from that line, the nearest lines that have some are $after and

case: a line behind the end of the file
target: lines 10
run: blip count -p $PID --line lines.c:4000
error: lines.c:4000: no code comes from that line, the nearest line that has some is

case: an unknown source file
target: lines 10
run: blip count -p $PID --line line.c:10
error: line.c:10: no source file of that name is known, nearest: lines.c

case: no debugging information
target: lines_stripped 10
run: blip count -p $PID --line lines.c:10
error: lines_stripped has no line tables, compile it with -g, build-id

case: a line that is no number
run: blip count -p $PID --line steps.c:ten
usage: 'ten' is not a number

case: a line without a number
run: blip count -p $PID --line steps.c
usage: it is written FILE:LINE

case: --line and --coverage on the wrong verb
run: blip list -p $PID --line steps.c:10
usage: --line is not an option of blip list

case: coverage together with a probe
run: blip list -p $PID --coverage --probe straight
usage: --probe is not an option of blip list
