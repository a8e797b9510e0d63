// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "elf/elf_file.h"

namespace blip::elf {

// Code addresses of one file: a bit for each byte of code, so that adding is cheap in any order and the
// result is sorted without sorting. Addresses outside of the file's code are dropped.
class CodeAddressSet {
 public:
  explicit CodeAddressSet(const ElfFile& file) {
    for (const FileRange& range : file.code_ranges()) {
      parts_.push_back({range, std::vector<uint64_t>((range.size() + 63) / 64)});
    }
    if (!parts_.empty()) all_ = {parts_.front().range.begin, parts_.back().range.end};
  }

  // Adds an address; false if it is no code.
  bool add(FileAddr address) {
    if (!all_.contains(address)) return false;
    Part* part = find(address);
    if (!part) return false;
    uint64_t at = address - part->range.begin;
    part->bits[at / 64] |= uint64_t{1} << (at % 64);
    return true;
  }

  std::vector<FileAddr> sorted() const {
    std::vector<FileAddr> result;
    for (const Part& part : parts_)
      for (size_t word = 0; word < part.bits.size(); ++word)
        for (uint64_t rest = part.bits[word]; rest; rest &= rest - 1)
          result.push_back(part.range.begin + (word * 64 + static_cast<unsigned>(std::countr_zero(rest))));
    return result;
  }

 private:
  struct Part {
    FileRange range;
    std::vector<uint64_t> bits;
  };

  Part* find(FileAddr address) {
    if (last_ < parts_.size() && parts_[last_].range.contains(address)) return &parts_[last_];
    auto after = std::upper_bound(parts_.begin(), parts_.end(), address,
                                  [](FileAddr a, const Part& part) { return a < part.range.begin; });
    if (after == parts_.begin() || !std::prev(after)->range.contains(address)) return nullptr;
    last_ = static_cast<size_t>(after - parts_.begin()) - 1;
    return &parts_[last_];
  }

  std::vector<Part> parts_;
  FileRange all_;
  size_t last_ = 0;
};

}  // namespace blip::elf
