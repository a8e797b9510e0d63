// SPDX-License-Identifier: MIT
// Two implementations each of picked(), which is called, and never_called(), whose slot is bound at its first
// call.
#pragma once
unsigned long picked(unsigned long i);
unsigned long never_called(unsigned long i);
