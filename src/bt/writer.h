// SPDX-License-Identifier: MIT
// bpftrace's two forms of output: text, and one JSON object a line (-f json).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bt/shown.h"

namespace blip::bt {

// Each returns what is to be written.
class OutputForm {
 public:
  virtual ~OutputForm() = default;
  virtual std::string map(const std::string& name, const ShownMap& map) const = 0;
  virtual std::string value(const Shown& value) const = 0;
  virtual std::string text(std::string_view kind,
                           const std::string& text) const = 0;  // printf, time, cat, join
};

std::unique_ptr<OutputForm> make_text_form();
std::unique_ptr<OutputForm> make_json_form();

}  // namespace blip::bt
