// SPDX-License-Identifier: MIT
// For tests: captured fields as text, to compare with what a debugger would show.
#pragma once

#include <fmt/core.h>

#include <bit>
#include <cstring>

#include "ctf/schema.h"
#include "script/ir/interpret.h"

namespace blip::script {

using ctf::Field;
using ctf::FieldType;

class Renderer {
 public:
  explicit Renderer(const std::vector<OutputBytes>& outputs) : outputs_(outputs) {}

  std::string field(const Field& s) const { return s.name + "=" + value(s, 0); }

 private:
  uint64_t raw(const Field& s, size_t base) const {
    const auto& bytes = outputs_[s.output].bytes;
    uint64_t all = 0;
    for (size_t i = 0; i < s.size && i < 8; ++i) all |= uint64_t{bytes.at(base + s.begin + i)} << 8 * i;
    unsigned bits = s.size * 8;
    if (s.bit_size) {
      all >>= s.bit_offset;
      bits = s.bit_size;
    }
    if (bits >= 64) return all;
    all <<= 64 - bits;
    return s.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(all) >> (64 - bits)) : all >> (64 - bits);
  }

  std::string text(const Field& s, size_t base) const {
    const OutputBytes& output = outputs_[s.output];
    const size_t end = s.size > 1 ? base + s.begin + s.size : output.bytes.size();
    std::string all;
    for (size_t i = base + s.begin; i < end && output.bytes.at(i); ++i)
      all += static_cast<char>(output.bytes[i]);
    return '"' + all + '"' + (output.is_cut ? "..." : "");
  }

  std::string elements(const Field& s, size_t base, size_t count, size_t stride) const {
    std::string all;
    for (size_t i = 0; i < count; ++i)
      all += (i ? ", " : "") + value(s.members[0], base + s.begin + i * stride);
    if (!s.note.empty()) all += ", ...";
    return "[" + all + "]";
  }

  // The next bytes, which were collected, as text.
  std::string collected(const Field& s, const std::vector<uint8_t>& bytes, size_t& at) const {
    const auto state = bytes.at(at++);
    uint64_t size = 0;
    std::memcpy(&size, &bytes.at(at), s.type == FieldType::kCollected ? 8 : 2);
    at += s.type == FieldType::kCollected ? 8 : 2;
    const std::string more = state == 1 ? "..." : state == 2 ? "NULL" : state == 3 ? "<bad>" : "";
    std::string all;
    if (s.type == FieldType::kCollectedText) {
      all.assign(bytes.begin() + static_cast<ptrdiff_t>(at),
                 bytes.begin() + static_cast<ptrdiff_t>(at + size));
      at += size;
      return state > 1 ? more : '"' + all + '"' + more;
    }
    const unsigned count = bytes.at(at) + 256U * bytes.at(at + 1);
    at += 2;
    for (unsigned i = 0; i < count; ++i) {
      const size_t block = at;
      at += s.size;
      all += (i ? ", " : "") + part(s.members[0], bytes, block, at);
    }
    return "[" + all + more + "]";
  }
  std::string part(const Field& s, const std::vector<uint8_t>& bytes, size_t block, size_t& at) const {
    if (s.type == FieldType::kCollected || s.type == FieldType::kCollectedText)
      return collected(s, bytes, at);
    if (s.type == FieldType::kInt) {
      int64_t number = 0;
      std::memcpy(&number, &bytes.at(block + s.begin), s.size);
      return std::to_string(s.size == 4 && s.is_signed ? static_cast<int32_t>(number) : number);
    }
    std::string all;
    for (const Field& m : s.members)
      all += (all.empty() ? "" : ", ") + m.name + "=" + part(m, bytes, block, at);
    return "{" + all + "}";
  }

  std::string value(const Field& s, size_t base) const {
    if (s.type == FieldType::kCollected) {
      size_t at = 0;
      return collected(s, outputs_[s.output].bytes, at);
    }
    if (s.type == FieldType::kNote) return s.note;
    if (s.output != kNone && outputs_[s.output].is_fault) return "<fault>";
    const auto number = s.type <= FieldType::kEnum ? raw(s, base) : 0;
    switch (s.type) {
      case FieldType::kInt:
        if (s.is_hex) return fmt::format("{:#x}", number);
        return s.is_signed ? fmt::format("{}", static_cast<int64_t>(number)) : fmt::format("{}", number);
      case FieldType::kBool:
        return number ? "true" : "false";
      case FieldType::kChar:
        return fmt::format("'{}'", static_cast<char>(number));
      case FieldType::kFloat:
        if (s.size == 4) return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(number)));
        return s.size == 16 ? "long double" : fmt::format("{}", std::bit_cast<double>(number));
      case FieldType::kEnum:
        for (const ctf::Label& e : s.labels)
          if (static_cast<uint64_t>(e.value) == number) return e.name;
        return fmt::format("{}", number);
      case FieldType::kText:
        return text(s, base);
      case FieldType::kArray:
        return elements(s, base, s.count, s.size);
      case FieldType::kSequence:
        return elements(s, base, outputs_[s.output].bytes.size() / s.size, s.size) +
               (outputs_[s.output].is_cut ? "..." : "");
      default:
        break;
    }
    std::string all;
    for (const Field& m : s.members)
      all += (all.empty() ? "" : ", ") + m.name + "=" + value(m, m.output == s.output ? base : 0);
    return "{" + all + "}";
  }

  const std::vector<OutputBytes>& outputs_;
};

}  // namespace blip::script
