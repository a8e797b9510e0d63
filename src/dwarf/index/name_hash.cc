// SPDX-License-Identifier: MIT
#include "dwarf/index/name_hash.h"

#include "dwarf/index/identifier.h"

namespace blip::dwarf {

namespace {

// True for the names of namespaces and classes with brackets that do not match ("{closure_env#0}<fn() -> T>",
// in Rust), or with the word that operators begin with.
bool is_odd(std::string_view name) {
  int depth = 0;
  for (const char c : name) depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
  return depth != 0 || name.find("operator") != std::string_view::npos;
}

}  // namespace

uint32_t name_hash(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

const NameHashes::Known& NameHashes::of(const char* name) {
  const auto address = reinterpret_cast<uint64_t>(name);
  Known& known = slots_[(address * 0x9e3779b97f4a7c15 >> 32) % kSlots];
  if (known.name == name) return known;
  const std::string_view text = name;
  work_ += text.size();
  known = {name, name_hash(text), name_hash(identifier_in(text)), is_odd(text)};
  return known;
}

}  // namespace blip::dwarf
