// SPDX-License-Identifier: MIT
// For tests: programs of the text form.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "script/blocks/text.h"
#include "script/blocks/verify.h"

namespace blip::script {

// The program, which must be in order; an empty one if it is not.
inline Program parsed(const std::string& text) {
  auto program = parse_program(text);
  EXPECT_TRUE(program) << program.error().message() << "\n" << text;
  return program ? *std::move(program) : Program{};
}

inline Program verified(const std::string& text) {
  Program program = parsed(text);
  const Status status = verify(program);
  EXPECT_TRUE(status) << status.error().message() << "\n" << text;
  return program;
}

// What verify() says; "" if it finds nothing.
inline std::string refusal_of(const std::string& text) {
  const Status status = verify(parsed(text));
  return status ? "" : status.error().message();
}

}  // namespace blip::script
