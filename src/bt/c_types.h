// SPDX-License-Identifier: MIT
// struct, union and enum that a script defines, laid out as C does it on x86-64.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bt/scanner.h"
#include "script/types/type.h"

namespace blip::bt {

class CTypes {
 public:
  // `text` stands at `range` of `source`: for errors.
  Status add(std::string_view source, Range range);

  // "struct request", "enum state", "request", "uint32", "int"; null: there is none.
  const script::Type* find(std::string_view name) const;
  struct Label {
    const script::Type* type;
    int64_t value;
  };
  std::optional<Label> find_label(std::string_view name) const;
  const script::Type& pointer_to(const script::Type& type);
  const script::Type& array_of(const script::Type& type, uint64_t count);

 private:
  Result<script::Type*> definition(Scanner& scan);
  Status members(Scanner& scan, script::Type& type);
  Status enumerators(Scanner& scan, script::Type& type);
  Result<const script::Type*> base_type(Scanner& scan);
  Status declarator(Scanner& scan, const script::Type& base, script::Type& of);
  Result<uint64_t> number(Scanner& scan);
  static void skip_attribute(Scanner& scan, bool& is_packed);
  script::Type& make(script::Type type) { return types_.emplace_back(std::move(type)); }

  std::deque<script::Type> types_;
  std::map<std::string, script::Type*, std::less<>> names_;
  unsigned depth_ = 0;
  bool is_packed_ = false;
};

// bpftrace's own names: uint8 ... int64, bool.
const script::Type* plain_type(std::string_view name);

}  // namespace blip::bt
