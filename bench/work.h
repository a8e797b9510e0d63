// SPDX-License-Identifier: MIT
// The function whose calls are traced. In a file of its own, so that no compiler sees through the call.
#pragma once

int work(int value, const char* text);
