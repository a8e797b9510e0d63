// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "cli/backtrace_text.h"
#include "ctf/schema.h"

namespace blip::cli {

// The fields of an event of a class with a hit word (ctf::EventPacker makes them) as text or JSON:
//
//   n = 5, path = "/admin"..., pt = { x = 1, y = 2 }, color = RED (1), v = [ 1, 2, 3 ], s = <bad address>
//   ,"n":5,"path":"/admin","pt":{"x":1,"y":2},"color":"RED","v":[1,2,3],"s":null,"cut":["path"]
class CapturedValues {
 public:
  // Appends the name of the place at an address, if it has one.
  using PlaceAppender = std::function<void(uint64_t ip, std::string& out)>;

  CapturedValues(const ctf::EventClass& event_class, bool json);

  // `fields`: behind the header, the pid with them. False: they are not as the class says.
  bool render(std::span<const uint8_t> fields, const PlaceAppender& append_place);

  // Of the event rendered last. The thread's id stands apart; empty: it has none.
  const std::string& tid() const { return tid_; }
  const std::string& text() const { return text_; }
  // None: the class has none.
  const Backtrace* backtrace() const { return has_backtrace_ ? &backtrace_ : nullptr; }

 private:
  void take_backtrace(const ctf::Field& field);
  bool top(const ctf::Field& field, const PlaceAppender& append_place);
  void value(const ctf::Field& field, uint32_t output, bool is_element);
  void number(const ctf::Field& field);
  void text_list(const ctf::Field& field);
  void structure(const ctf::Field& field, uint32_t output, bool is_element);
  void elements(const ctf::Field& field, uint32_t count);
  void string(const ctf::Field& field, uint32_t output, bool is_element);
  void lead(std::string_view name, bool is_first);
  bool is_cut(uint32_t output) const;
  void tell_cut(const ctf::Field& field);

  // The next `size` bytes; zeros, and bad_, if there are not so many.
  const uint8_t* take(size_t size);

  const ctf::EventClass& class_;
  bool json_;
  std::span<const uint8_t> rest_;
  bool bad_ = false;
  uint64_t faults_ = 0;
  uint64_t cut_ = 0;
  std::string tid_;
  Backtrace backtrace_;
  bool has_backtrace_ = false;
  std::string text_;
  std::string cut_names_;  // of JSON
};

}  // namespace blip::cli
