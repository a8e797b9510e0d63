// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace blip::elf {

// Whether a symbol name is a mangled C++ or legacy Rust name that demangle() may change.
bool is_mangled(std::string_view name);

// "_ZN2ns1fEi" -> "ns::f(int)"; what is not mangled comes back unchanged. Rust's legacy names lose their hash
// and escapes; Rust v0 names (_R...) stay as they are.
std::string demangle(std::string_view mangled);

// The name a user would type: "void ns::f<int>(int) const" -> "ns::f<int>". Return type, parameters,
// qualifiers and ABI tags go;
// "[clone .part.0]" and "virtual thunk to" stay, because they tell different code apart.
std::string without_parameters(std::string_view demangled);

}  // namespace blip::elf
