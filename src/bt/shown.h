// SPDX-License-Identifier: MIT
// Values as they are printed, before it is known whether as text or as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace blip::bt {

struct Shown {
  struct Symbol {  // a name in texts, a number in JSON
    std::string name;
    uint64_t number = 0;
  };
  struct Bytes {
    std::string bytes;
  };
  using List = std::vector<Shown>;
  struct Tuple {
    List values;
  };
  struct Array {
    List values;
  };
  struct Field;  // of a record
  struct Record {
    std::vector<Field> fields;
  };
  std::variant<std::monostate, bool, int64_t, uint64_t, std::string, Symbol, Bytes, Tuple, Array, Record>
      value;
};

struct Shown::Field {
  std::string name;
  Shown value;
};

struct ShownHistogram {
  std::optional<Shown> lower;  // of the first bucket; none: there is no bound below
  std::vector<Shown> labels;   // upper bounds; the last bucket may have none
  std::vector<uint64_t> counts;
};

struct ShownSeries {
  struct Point {
    uint64_t time = 0;  // nanoseconds since 1970
    std::optional<Shown> value;
  };
  std::vector<Point> points;
};

using ShownEntry = std::variant<Shown, ShownHistogram, ShownSeries>;

struct ShownMap {
  bool is_scalar = false, is_stats = false;
  std::vector<std::pair<Shown, ShownEntry>> entries;  // of a scalar: one, without a key
};

// As texts show it: "(1, two)", "{ .a = 1 }".
std::string to_text(const Shown& value);
std::string bytes_as_text(std::string_view bytes, bool keeps_ascii = true, bool has_escapes = true);

}  // namespace blip::bt
