// SPDX-License-Identifier: MIT
// What front ends know of the session: see script/blocks/world.h.
#pragma once

#include "script/blocks/world.h"
