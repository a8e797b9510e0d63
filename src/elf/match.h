// SPDX-License-Identifier: MIT
// Decides which functions and modules a SPEC means.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/spec.h"
#include "elf/symbols.h"

namespace blip::elf {

// * ? [a-z] [!a-z] and \x, over the whole text; no character is special in the text. Time is bounded by the
// product of the lengths. An unclosed '[' is itself, so "operator[]" matches literally.
bool glob_match(std::string_view pattern, std::string_view text);

// True if the text has a glob character; "operator[]" and "f[abi:cxx11]" have none.
bool is_glob(std::string_view text);

// kAsWritten: `f` is no `ns::f`. kAny: it is, and `f` is `ns::f<int>`.
enum class Scopes { kAsWritten, kAny };

// kAlso: `f` is f.constprop.0 too: copies of the whole function that a compiler made for some of its callers.
// Parts of one (f.part.0, f.cold) are reached from f itself.
enum class Clones { kNone, kAlso };
// "f.isra.0.constprop.1" -> "f"; a name of another kind stays.
std::string_view without_clone_suffix(std::string_view mangled);

// `name` without its scopes or its template arguments is `wanted`: shop::Service::handle<int> is handle, and
// Service::handle. Both are without parameters.
bool is_in_a_scope(std::string_view name, std::string_view wanted);

// '*', alone: whatever is known of, with or without a name.
bool is_everything(const Spec& spec);

// Tells whether a function's mangled name, demangled name, demangled name without parameters, or a Rust name
// with its hash is what the SPEC names (or its glob matches). Globs leave out .cold parts. Cheap on large
// tables: a name is demangled only if a word of the SPEC occurs in its mangled text.
class FunctionMatcher {
 public:
  explicit FunctionMatcher(const Spec& spec, Scopes scopes = Scopes::kAsWritten,
                           Clones clones = Clones::kNone);

  bool matches(const Function& function) const;

  const std::string& name() const { return name_; }
  Scopes scopes() const { return scopes_; }
  Clones clones() const { return clones_; }
  // One of the identifiers (for_each_identifier()) of each mangled name that matches; empty: none is known.
  const std::string& word() const { return word_; }

 private:
  void require_words();
  bool matches_name(std::string_view name) const;
  bool equal_or_glob(std::string_view text) const;
  bool ends_in_name(std::string_view plain) const;
  bool could_match(std::string_view mangled) const;
  bool matches_with_hash(std::string_view mangled) const;

  bool glob_;
  Scopes scopes_;
  Clones clones_;
  std::string name_;
  std::string word_;
  bool is_path_ = false;               // the name is identifiers with :: between them, and word_ is the last
  bool is_explained_ = false;          // it may have words of the demangler's own ("virtual thunk to ...")
  std::vector<std::string> required_;  // each occurs in the mangled form of every name that matches
};

// MODULE matches "libz.so.1.2.13" as libz, libz.so, libz.so.1, ... or as a glob over one of those.
bool module_matches(std::string_view pattern, std::string_view basename);

// Up to n names near to `wanted`, best first, in the spelling a user would type, for "no symbol matches".
std::vector<std::string> suggest(std::string_view wanted, std::span<const Function> candidates, size_t n = 5);

}  // namespace blip::elf
