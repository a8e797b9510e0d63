// SPDX-License-Identifier: MIT
// The lines of one function: of parse.cc only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "script/blocks/line.h"
#include "script/blocks/operations.h"

namespace blip::script {

class FunctionParser {
 public:
  FunctionParser(Program& program, Function& function) : program_(program), function_(function) {}

  void read(Line& line);
  // After the last line: blocks may be named before they come.
  Status finish();

 private:
  bool declare(Line& line);
  void begin_block(Line& line, const std::string& name);
  void statement(Line& line);
  bool terminate(Line& line, const std::string& word);
  void node(Line& line, const std::string& name);
  void width(Line& line, Node& node);
  void value(Line& line, Node& node);
  Table table(Line& line);
  void list(Line& line, Node& node);
  uint32_t operand(Line& line);
  uint32_t target(Line& line);

  Block& block() { return function_.blocks.back(); }

  Program& program_;
  Function& function_;
  std::map<std::string, uint32_t> values_;  // of this block
  std::map<std::string, uint32_t> blocks_;
  std::vector<std::string> targets_;  // until finish() targets are places here
  bool has_ended_ = true;
};

}  // namespace blip::script
