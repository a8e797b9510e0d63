// SPDX-License-Identifier: MIT
#include "cli/show/value_writer.h"

#include "cli/output/escape.h"
#include "cli/show/value_text.h"

namespace blip::cli {

void ValueWriter::begin_event() {
  cut_.clear();
  missing_.clear();
  sizes_.clear();
}

void ValueWriter::begin(std::string& out, std::string_view pointer) {
  out_ = &out;
  pointer_ = pointer;
}

void ValueWriter::point_into(std::string_view name) {
  pointer_ += '/';
  for (const char c : name) {
    if (c == '~' || c == '/') {
      pointer_ += c == '~' ? "~0" : "~1";
    } else {
      pointer_ += c;
    }
  }
}

void ValueWriter::lead(std::string_view name, bool is_first) {
  if (json_) {
    point_into(name);
    if (!is_first) *out_ += ',';
    append_json_string(*out_, name);
    *out_ += ':';
    return;
  }
  if (!is_first) *out_ += ", ";
  if (name.empty()) return;
  append_escaped(*out_, name);
  *out_ += " = ";
}

void ValueWriter::lead_element(uint64_t index) {
  if (index != 0) *out_ += json_ ? "," : ", ";
  if (!json_) return;
  pointer_ += '/';
  append_number(pointer_, index);
}

void ValueWriter::close_list(bool is_empty, bool more) {
  if (more && json_) cut();
  if (more && !json_) *out_ += is_empty ? "..." : ", ...";
  *out_ += json_ || (is_empty && !more) ? "]" : " ]";
}

void ValueWriter::plain(ctf::FieldType type, const uint8_t* from) { append_plain(*out_, type, from, json_); }
void ValueWriter::integer(uint64_t bits, bool is_signed, bool is_hex) {
  append_integer(*out_, bits, is_signed, is_hex, json_);
}
void ValueWriter::real(double value) { append_float(*out_, value, json_); }
void ValueWriter::real(float value) { append_float(*out_, value, json_); }
void ValueWriter::digits(std::string_view digits) {
  const bool is_finite = digits.find_first_not_of("-+.e0123456789") == std::string_view::npos;
  if (json_ && (!is_finite || digits.empty())) return append_json_string(*out_, digits);
  out_->append(digits);
}
void ValueWriter::truth(uint64_t value) { append_truth(*out_, value); }
void ValueWriter::character(uint8_t byte, bool is_signed) { append_character(*out_, byte, is_signed, json_); }
void ValueWriter::labelled(std::string_view label, uint64_t bits, bool is_signed) {
  append_labelled(*out_, label, bits, is_signed, json_);
}
void ValueWriter::text(std::string_view text) { append_quoted(*out_, text, false, json_); }

void ValueWriter::note(std::string_view note) {
  if (!json_) {
    append_escaped(*out_, note);
    return;
  }
  *out_ += "null";
  if (note.size() > 2 && note.front() == '<' && note.back() == '>') note = note.substr(1, note.size() - 2);
  if (!missing_.empty()) missing_ += ',';
  append_json_string(missing_, pointer_);
  missing_ += ':';
  append_json_string(missing_, note);
}

void ValueWriter::null() { *out_ += json_ ? "null" : "NULL"; }

void ValueWriter::cut() {
  if (!json_) {
    *out_ += "...";
    return;
  }
  if (!cut_.empty()) cut_ += ',';
  append_json_string(cut_, pointer_);
}

void ValueWriter::in_all(uint64_t size) {
  if (!json_) {
    *out_ += " (";
    append_number(*out_, size);
    *out_ += " in all)";
    return;
  }
  if (!sizes_.empty()) sizes_ += ',';
  append_json_string(sizes_, pointer_);
  sizes_ += ':';
  append_number(sizes_, size);
}

void ValueWriter::rewind(const Mark& mark) {
  out_->resize(mark.out);
  cut_.resize(mark.cut);
  missing_.resize(mark.missing);
  sizes_.resize(mark.sizes);
}

void ValueWriter::append_marks(std::string& out) const {
  if (!cut_.empty()) out.append(",\"cut\":[").append(cut_).append("]");
  if (!sizes_.empty()) out.append(",\"sizes\":{").append(sizes_).append("}");
  if (!missing_.empty()) out.append(",\"missing\":{").append(missing_).append("}");
}

}  // namespace blip::cli
