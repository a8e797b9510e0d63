// SPDX-License-Identifier: MIT
// The parameters and results of libc's functions, for programs without debugging information.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "script/types/type.h"

namespace blip::script {

struct Prototype {
  struct Parameter {
    std::string name;
    const Type* type = nullptr;
  };
  std::string name;
  const Type* result = nullptr;
  std::vector<Parameter> parameters;
  bool is_variadic = false;
};

// Null: not in the table. Other names of the same function are understood: open64, __libc_malloc,
// read@@GLIBC_2.2.5.
const Prototype* find_prototype(std::string_view function);

// "ssize_t read(int fd, void *buf, size_t count)"; structures need not be known. Its types live as long as
// the program.
Result<Prototype> parse_prototype(std::string_view text);

// All of the table, as C.
std::vector<std::string_view> prototype_texts();

}  // namespace blip::script
