// SPDX-License-Identifier: MIT
// For tests: runs functions of programs, and keeps what comes out as text.
#pragma once

#include <fmt/format.h>

#include <string>

#include "script/run/interpreter.h"

namespace blip::script {

// One line for each thing that comes out: "emit 0 1 \"text\"".
class TestSink : public Sink {
 public:
  void emit(uint32_t format, std::span<const Argument> arguments) override {
    line("emit", format, arguments);
  }
  std::string sprint(uint32_t format, std::span<const Argument> arguments) override {
    return fmt::format("{}{}", format, list(arguments));
  }
  void print(uint32_t map, const state::Key* key) override {
    out += fmt::format("print {}{}\n", map, key ? fmt::format(" key of {} bytes", key->bytes().size()) : "");
  }
  void exit(uint64_t code) override { out += fmt::format("exit {}\n", code); }

  std::string out;

 private:
  static std::string list(std::span<const Argument> arguments) {
    std::string result;
    for (const Argument& a : arguments)
      result +=
          a.text.data() ? fmt::format(" \"{}\"", a.text) : fmt::format(" {}", static_cast<int64_t>(a.number));
    return result;
  }
  void line(std::string_view what, uint32_t which, std::span<const Argument> arguments) {
    out += fmt::format("{} {}{}\n", what, which, list(arguments));
  }
};

inline std::vector<state::Map> maps_of(const Program& program) {
  std::vector<state::Map> maps;
  for (const state::MapType& type : program.maps) maps.emplace_back(type);
  return maps;
}

}  // namespace blip::script
