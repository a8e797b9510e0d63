// SPDX-License-Identifier: MIT
// For tests: captured fields as text, to compare with what a debugger would show.
#pragma once

#include <fmt/core.h>

#include <bit>
#include <cstring>

#include "script/ir/interpret.h"
#include "script/types/shape.h"

namespace blip::script {

class Renderer {
 public:
  explicit Renderer(const std::vector<OutputBytes>& outputs) : outputs_(outputs) {}

  std::string field(const Shape& s) const { return s.name + "=" + value(s, 0); }

 private:
  uint64_t raw(const Shape& s, size_t base) const {
    const auto& bytes = outputs_[s.output].bytes;
    uint64_t all = 0;
    for (size_t i = 0; i < s.size && i < 8; ++i) all |= uint64_t{bytes.at(base + s.offset + i)} << 8 * i;
    unsigned bits = s.size * 8;
    if (s.bit_size) {
      all >>= s.bit_offset;
      bits = s.bit_size;
    }
    if (bits >= 64) return all;
    all <<= 64 - bits;
    return s.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(all) >> (64 - bits)) : all >> (64 - bits);
  }

  std::string text(const Shape& s, size_t base) const {
    const OutputBytes& output = outputs_[s.output];
    const size_t end = s.size > 1 ? base + s.offset + s.size : output.bytes.size();
    std::string all;
    for (size_t i = base + s.offset; i < end && output.bytes.at(i); ++i)
      all += static_cast<char>(output.bytes[i]);
    return '"' + all + '"' + (output.is_cut ? "..." : "");
  }

  std::string elements(const Shape& s, size_t base, size_t count, size_t stride) const {
    std::string all;
    for (size_t i = 0; i < count; ++i)
      all += (i ? ", " : "") + value(s.members[0], base + s.offset + i * stride);
    if (s.members.size() > 1) all += ", " + s.members[1].name;
    return "[" + all + "]";
  }

  // The next bytes, which were collected, as text.
  std::string collected(const Shape& s, const std::vector<uint8_t>& bytes, size_t& at) const {
    const auto state = bytes.at(at++);
    uint64_t size = 0;
    std::memcpy(&size, &bytes.at(at), s.kind == Shape::Kind::kCollected ? 8 : 2);
    at += s.kind == Shape::Kind::kCollected ? 8 : 2;
    const std::string more = state == 1 ? "..." : state == 2 ? "NULL" : state == 3 ? "<bad>" : "";
    std::string all;
    if (s.kind == Shape::Kind::kCollectedText) {
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
  std::string part(const Shape& s, const std::vector<uint8_t>& bytes, size_t block, size_t& at) const {
    if (s.kind == Shape::Kind::kCollected || s.kind == Shape::Kind::kCollectedText)
      return collected(s, bytes, at);
    if (s.kind == Shape::Kind::kInt) {
      int64_t number = 0;
      std::memcpy(&number, &bytes.at(block + s.offset), s.size);
      return std::to_string(s.size == 4 && s.is_signed ? static_cast<int32_t>(number) : number);
    }
    std::string all;
    for (const Shape& m : s.members)
      all += (all.empty() ? "" : ", ") + m.name + "=" + part(m, bytes, block, at);
    return "{" + all + "}";
  }

  std::string value(const Shape& s, size_t base) const {
    if (s.kind == Shape::Kind::kCollected) {
      size_t at = 0;
      return collected(s, outputs_[s.output].bytes, at);
    }
    if (s.kind == Shape::Kind::kNote) return s.note;
    if (s.output != kNone && outputs_[s.output].is_fault) return "<fault>";
    const auto number = s.kind <= Shape::Kind::kEnum ? raw(s, base) : 0;
    switch (s.kind) {
      case Shape::Kind::kInt:
        return s.is_signed ? fmt::format("{}", static_cast<int64_t>(number)) : fmt::format("{}", number);
      case Shape::Kind::kAddress:
        return fmt::format("{:#x}", number);
      case Shape::Kind::kBool:
        return number ? "true" : "false";
      case Shape::Kind::kChar:
        return fmt::format("'{}'", static_cast<char>(number));
      case Shape::Kind::kFloat:
        if (s.size == 4) return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(number)));
        return s.size == 16 ? "long double" : fmt::format("{}", std::bit_cast<double>(number));
      case Shape::Kind::kEnum:
        for (const Enumerator& e : s.enumerators)
          if (static_cast<uint64_t>(e.value) == number) return e.name;
        return fmt::format("{}", number);
      case Shape::Kind::kText:
        return text(s, base);
      case Shape::Kind::kArray:
        return elements(s, base, s.count, s.members[0].size);
      case Shape::Kind::kSequence:
        return elements(s, base, outputs_[s.output].bytes.size() / s.size, s.size) +
               (outputs_[s.output].is_cut ? "..." : "");
      default:
        break;
    }
    std::string all;
    for (const Shape& m : s.members)
      all += (all.empty() ? "" : ", ") + m.name + "=" + value(m, m.output == s.output ? base : 0);
    return "{" + all + "}";
  }

  const std::vector<OutputBytes>& outputs_;
};

}  // namespace blip::script
