// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace blip::elf {

// True for a mangled C++ or Rust name that demangle() may change.
bool is_mangled(std::string_view name);
// Rust's second scheme, "_RNvCs1234_7mycrate3foo".
bool is_rust_v0(std::string_view name);

// "_ZN2ns1fEi" -> "ns::f(int)", "_RNvC7mycrate3foo" -> "mycrate::foo"; what is not mangled comes back
// unchanged. Rust's hashes are left out.
std::string demangle(std::string_view mangled);
// "mycrate::foo::h0123456789abcdef": only for Rust's legacy scheme, whose hash is part of the name.
std::optional<std::string> demangle_with_hash(std::string_view mangled);

// Turns Rust's v0 names into the form of the legacy scheme: "<shop::Cart>::put::<u8>" -> "shop::Cart::put".
// Functions that implement a trait keep their brackets: "<u8 as Clone>::clone".
std::string without_rust_generics(std::string_view demangled);

// The name a user would type: "void ns::f<int>(int) const" -> "ns::f<int>". Return type, parameters,
// qualifiers and ABI tags go;
// "[clone .part.0]" and "virtual thunk to" stay, because they tell different code apart.
std::string without_parameters(std::string_view demangled);

// The name with the parameters that tell overloads apart: "void ns::f<int>(int) const" -> "ns::f<int>(int)
// const". It begins like the name without parameters. A declaration that is too odd to be cut stays whole.
std::string with_parameters(std::string_view demangled);

}  // namespace blip::elf
