// SPDX-License-Identifier: MIT
// Values with names, as text for people or as JSON for programs (docs/json.md):
//
//   n = 5, path = "/admin"..., pt = { x = 1, y = 2 }, color = RED (1), v = [ 1, 2, 3 ], s = <bad address>
//   "n":5,"path":"/admin","pt":{"x":1,"y":2},"color":"RED","v":[1,2,3],"s":null
//
// JSON has no room beside a value: what was cut and what is missing is collected, by JSON pointers (RFC
// 6901). Events of a live trace and those of a stored one are written by this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ctf/schema.h"

namespace blip::cli {

class ValueWriter {
 public:
  explicit ValueWriter(bool json) : json_(json) {}

  bool is_json() const { return json_; }
  // Forgets what was cut or missing.
  void begin_event();
  // From now on, values are appended to `out`, whose pointer is `pointer`.
  void begin(std::string& out, std::string_view pointer);
  const std::string& out() const { return *out_; }

  // `write` writes the value of a member, or of an element.
  template <typename Write>
  void member(std::string_view name, bool is_first, Write write) {
    const size_t outer = pointer_.size();
    lead(name, is_first);
    write();
    pointer_.resize(outer);
  }
  template <typename Write>
  void element(uint64_t index, Write write) {
    const size_t outer = pointer_.size();
    lead_element(index);
    write();
    pointer_.resize(outer);
  }
  void open_structure() { *out_ += json_ ? "{" : "{ "; }
  void close_structure(bool is_empty) { *out_ += json_ || is_empty ? "}" : " }"; }
  void open_list() { *out_ += json_ ? "[" : "[ "; }
  // `more`: not all elements are in it.
  void close_list(bool is_empty, bool more = false);

  void plain(ctf::FieldType type, const uint8_t* from);
  void integer(uint64_t bits, bool is_signed, bool is_hex);
  void real(double value);
  void real(float value);
  // A number that is more than a double.
  void digits(std::string_view digits);
  void truth(uint64_t value);
  void character(uint8_t byte, bool is_signed);
  void labelled(std::string_view label, uint64_t bits, bool is_signed);
  void text(std::string_view text);
  // Stands in the place of a value: "<optimized out>".
  void note(std::string_view note);
  // A pointer that leads nowhere.
  void null();
  // There was more of the value just written.
  void cut();
  // How many elements the list just written has, of which it shows some.
  void in_all(uint64_t size);

  // Takes back what was written since the mark.
  struct Mark {
    size_t out, cut, missing, sizes;
  };
  Mark mark() const { return {out_->size(), cut_.size(), missing_.size(), sizes_.size()}; }
  void rewind(const Mark& mark);

  // ,"cut":[...],"sizes":{...},"missing":{...} of the event, as far as there are such. JSON only.
  void append_marks(std::string& out) const;

 private:
  void lead(std::string_view name, bool is_first);
  void lead_element(uint64_t index);
  void point_into(std::string_view name);

  bool json_;
  std::string* out_ = nullptr;
  std::string pointer_;                // of the value that is being written
  std::string cut_, missing_, sizes_;  // what is in their brackets
};

}  // namespace blip::cli
