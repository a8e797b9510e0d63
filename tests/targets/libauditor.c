// SPDX-License-Identifier: MIT
// An auditor (LD_AUDIT) that does nothing: the loader loads it, into a list of its own, before the program's
// libraries.
#include <link.h>

unsigned la_version(unsigned version) { return version; }
