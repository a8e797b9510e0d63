// SPDX-License-Identifier: MIT
// Fields as TSDL declares them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ctf/schema.h"

namespace blip::ctf {

// TSDL identifiers for fields of one scope, each once; sequences keep `_NAME_length` (length_name) for their
// counts free.
std::vector<std::string> scope_names(std::span<const Field> fields);
std::string length_name(const std::string& name);

// By output: how readers find the first field that is made of it, "pt.x"; empty: none is.
std::vector<std::string> output_paths(const EventClass& event_class);

// Declares fields. Types that need many words, enumerations above all, are defined once and then named.
class FieldDeclarer {
 public:
  // "TYPE NAME;", of a sequence with its count before it. `paths`: of the outputs of its class.
  std::string declare(const Field& field, const std::string& name, const std::vector<std::string>& paths);
  // Returns what must stand before all that was declared.
  std::string definitions() const;

 private:
  std::string typed(const Field& field, const std::string& name, const std::string& dimensions);
  std::string members_of(const Field& field);
  std::string type_of(const Field& field);
  std::string integer(uint32_t size, bool is_signed, bool is_hex);
  std::string enumeration(const Field& field);
  std::string characters(bool is_signed);
  std::string state_type();
  std::string bits(const std::vector<std::string>& paths);
  std::string alias(const std::string& definition, const std::string& name);
  std::string numbered_alias(const std::string& definition);

  std::map<std::string, std::string> names_;  // by definition
  std::string definitions_;
};

}  // namespace blip::ctf
