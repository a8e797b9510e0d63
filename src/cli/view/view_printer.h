// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "cli/view/babeltrace.h"
#include "cli/view/trace_sink.h"
#include "cli/view/view_fields.h"
#include "cli/view/view_filter.h"
#include "cli/view/view_modules.h"

namespace blip::cli {

// A sink of a babeltrace2 graph that prints events to stdout, in lines as babeltrace2's own with values as
// `blip trace` shows them, or as JSON (event_json.h), and what was discarded to stderr.
class ViewPrinter final : public TraceSink {
 public:
  ViewPrinter(bool color, bool json, bool hex, ViewFilter& filter)
      : color_(color && !json), json_(json), filter_(filter), fields_(json, hex) {}

 protected:
  bool take(const bt_message* message) override;

 private:
  void print_event(const bt_message* message);
  void print_discarded(const bt_message* message);
  void append_time(const bt_message* message);
  void append_clock(std::string& out, int64_t ns);
  void append_program(const bt_trace* trace);
  void append_fields(const ViewFields::Scopes& scopes);
  void append_text(const bt_message* message, const std::string& name, const ViewFields::Scopes& scopes);

  bool color_;
  bool json_;
  ViewFilter& filter_;
  ViewFields fields_;
  ViewModules modules_;
  session::FrameNamer namer_ = [this](int32_t vpid, uint64_t address,
                                      bool is_return) -> const std::vector<session::NamedFrame>& {
    return modules_.of(vpid, address, is_return);
  };
  std::string line_;
  bool have_last_ = false;
  int64_t last_ns_ = 0;
  int64_t cached_second_ = INT64_MIN;
  std::string cached_clock_;  // HH:MM:SS of it
};

}  // namespace blip::cli
