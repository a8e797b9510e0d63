// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/show/backtrace_text.h"
#include "cli/show/event_json.h"
#include "ctf/schema.h"

namespace blip::cli {

// The fields of an event, which lie back to back (ctf::EventPacker makes those of a class with a hit word),
// as text or JSON: value_writer.h, event_json.h.
class CapturedValues {
 public:
  // The place of a hit, SYMBOL+0xOFF, if many places share its class, and the name of the event there. Both
  // are empty if unknown.
  struct HitPlace {
    std::string place, name;
  };
  using PlaceNamer = std::function<const HitPlace&(uint64_t ip)>;

  CapturedValues(const ctf::EventClass& event_class, bool json);

  // `fields`: behind the header, the pid with them. False: they are not as the class says.
  bool render(std::span<const uint8_t> fields, const PlaceNamer& place_of);

  // The thread of the event rendered last, which text shows apart from the values. Empty if it has none.
  const std::string& tid() const { return tid_; }
  // The name of the place. If it is empty, the name of the class holds.
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  // None: the class has none.
  const Backtrace* backtrace() const { return has_backtrace_ ? &backtrace_ : nullptr; }
  void append_json(std::string& out, int64_t time_ns, const session::FrameNamer* name_of);

 private:
  void make_keys();
  void take_backtrace(const ctf::Field& field);
  bool top(const ctf::Field& field, const PlaceNamer& place_of);
  void plain(const ctf::Field& field, const PlaceNamer& place_of);
  template <typename Write>
  void show(const ctf::Field& field, Write write);
  void value(const ctf::Field& field, uint32_t output, bool is_element);
  void number(const ctf::Field& field);
  void long_double();
  void collected(const ctf::Field& field);
  void collected_text();
  std::string_view take_string();
  std::optional<std::string> variant_of(const ctf::Field& field) const;
  void which(const ctf::Field& field, const std::string& variant);
  void structure(const ctf::Field& field, uint32_t output, bool is_element);
  void elements(const ctf::Field& field, uint32_t count);
  void string(const ctf::Field& field, uint32_t output, bool is_element);
  bool is_cut(uint32_t output) const;
  bool is_fault(uint32_t output) const;

  // The next `size` bytes; zeros, and bad_, if there are not so many.
  const uint8_t* take(size_t size);

  const ctf::EventClass& class_;
  std::vector<ctf::Field> fields_;  // of the class; for JSON their names are keys
  ValueWriter text_values_;
  EventJson json_;
  ValueWriter& values_;
  EventJson::Head head_;
  std::span<const uint8_t> rest_;
  bool bad_ = false;
  uint64_t faults_ = 0;
  uint64_t cut_ = 0;
  std::string tid_;
  std::string name_;
  Backtrace backtrace_;
  bool has_backtrace_ = false;
  std::string text_;
};

}  // namespace blip::cli
