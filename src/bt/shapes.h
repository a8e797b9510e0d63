// SPDX-License-Identifier: MIT
// How what handlers hand over is shown: the text of a script::Format is only a key here.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "bt/type.h"
#include "script/types/diagnostics.h"

namespace blip::bt {

struct MapShape {
  std::string name;  // with its @
  bool is_scalar = true;
  Type key{}, value{};
  uint32_t limit = 0;                    // declared; 0: the config's
  uint32_t number = UINT32_MAX;          // in the program
  int64_t low = 0, high = 0, step = 1;   // of lhist
  uint32_t bits = 0;                     // of hist
  uint64_t interval = 0, intervals = 0;  // of tseries
  std::string fold{};                    // of tseries: avg, sum, min, max; empty: the last one
  bool is_used = false;
  script::Range range{};  // where it is first used
};

struct Shape {
  enum class Kind : uint8_t {
    // Emitted.
    kPrintf,
    kErrorf,
    kWarnf,
    kDebugf,
    kPrint,       // a value
    kPrintMap,    // map; the arguments are how many, and what values are divided by
    kPrintEntry,  // map with the key in front of the value
    kTime,
    kCat,
    kJoin,
    kSystem,
    kError,  // a run-time warning: text
    // Made into a text.
    kFormat,  // as printf, without printing
    kPack,    // the leaves as bytes: bytes.h
    kItem,    // of such bytes: leaf number `text`, a number as decimal digits
    kStrstr,  // where the second text is in the first
    kStrerror,
    kSignalName,
    kFrames,   // how many a stack has
    kShow,     // the value as print() shows it
    kComm,     // of pid, tid
    kProbe,    // by its number
    kFunc,     // of a probe
    kElapsed,  // of a clock, as decimal digits; so are the next ones
    kRealtime,
    kRandom,
    kCpus,
    kUserName,
    kParent,
    kTargetPid,
    kProbeType,
    kNtop,  // of a number or the 16 bytes of two
    kMac,
    kSymbol,  // the name of a code address, of pid, address
  } kind = Kind::kPrint;
  std::string text{};
  std::vector<Type> arguments{};
  uint32_t map = UINT32_MAX;  // of Shapes::maps
  script::Range range{};
  std::vector<script::Range> expanded_from{};
};

struct Shapes {
  std::map<std::string, Shape> formats;  // by Format::text
  std::deque<MapShape> maps;             // references to them stay
};

}  // namespace blip::bt
