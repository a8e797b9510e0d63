// SPDX-License-Identifier: MIT
// The library of ifunc_calls: functions chosen when they are bound.
#include "ifunc.h"

#include "target.h"

typedef unsigned long Function(unsigned long);

static PROBED unsigned long picked_slow(unsigned long i) { return i * 5 % 7; }
static PROBED unsigned long picked_fast(unsigned long i) { return i * 9 % 11; }
static Function* choose(void) { return getenv("BLIP_SLOW") ? picked_slow : picked_fast; }

unsigned long picked(unsigned long i) __attribute__((ifunc("choose")));
unsigned long never_called(unsigned long i) __attribute__((ifunc("choose")));
