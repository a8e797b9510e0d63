// SPDX-License-Identifier: MIT
#include "unwind/table.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "elf/call_frame.h"
#include "elf/eh_frame.h"
#include "unwind/rows.h"
#include "unwind/rules.h"

namespace blip::unwind {

namespace {

using elf::Frame;

// mov $15, %rax (or %eax); syscall: by these bytes all unwinders know the way back from a signal handler.
constexpr std::array<uint8_t, 9> kReturnLong = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
constexpr std::array<uint8_t, 7> kReturnShort = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
constexpr uint64_t kLongestPadding = 64;

// Only bytes that nops are made of. No code consists of them: it has to end somehow.
bool is_padding(std::span<const uint8_t> bytes, uint64_t size) {
  if (size > kLongestPadding || bytes.size() < size) return false;
  constexpr auto kIsNop = [] {
    std::array<bool, 256> is_nop{};
    for (const uint8_t b : {0x00, 0x0f, 0x1f, 0x2e, 0x40, 0x44, 0x66, 0x80, 0x84, 0x90, 0xcc})
      is_nop[b] = true;
    return is_nop;
  }();
  return std::all_of(bytes.begin(), bytes.end(), [&](uint8_t b) { return kIsNop[b]; });
}

class SegmentMaker {
 public:
  SegmentMaker(const elf::ElfFile& file, FileRange code, abi::UnwindRule untold)
      : file_(file), code_(code), untold_(untold), rows_(code), at_(code.begin) {}

  // In the order of their begins; of frames that overlap the first counts.
  void add(const Frame& frame) {
    const FileRange range = {std::max(frame.range.begin, at_), std::min(frame.range.end, code_.end)};
    if (range.empty()) return;
    const auto rows = elf::call_frame_rows(frame);
    if (rows.empty()) return;
    gap(range.begin);
    for (size_t i = 0; i < rows.size(); ++i) {
      const FileAddr begin = std::max({rows[i].begin, range.begin, at_});
      const bool is_over = i + 1 < rows.size() && rows[i + 1].begin <= begin;
      if (is_over || begin >= range.end) continue;
      rows_.from(begin, rule_of(rows[i], frame.is_signal_frame));
      at_ = begin;
    }
    at_ = range.end;
  }

  SegmentTable finish() {
    gap(code_.end);
    return rows_.finish();
  }

 private:
  void gap(FileAddr end) {
    const FileRange range = {at_, end};
    if (range.empty()) return;
    const auto bytes = file_.bytes(range);
    at_ = end;
    if (range.begin != code_.begin && is_padding(bytes, range.size())) return;
    rows_.from(range.begin, untold_);
    for (const FileRange& code : file_.code_ranges()) {  // data in the same segment may be large
      const FileRange part = {std::max(code.begin, range.begin), std::min(code.end, range.end)};
      if (part.begin >= part.end) continue;
      find_signal_return(part, range.end, kReturnLong);
      find_signal_return(part, range.end, kReturnShort);
    }
  }

  // It is looked up by the byte before it, as every return address.
  void find_signal_return(FileRange range, FileAddr gap_end, std::span<const uint8_t> code) {
    const auto bytes = file_.bytes(range);
    const void* const found = ::memmem(bytes.data(), bytes.size(), code.data(), code.size());
    if (!found) return;
    const FileAddr begin =
        range.begin + static_cast<uint64_t>(static_cast<const uint8_t*>(found) - bytes.data());
    const FileAddr end = begin + code.size(), before = begin > code_.begin ? begin - 1 : begin;
    rows_.cut(before);
    rows_.from(before, signal_rule());
    if (end < gap_end) rows_.from(end, untold_);
  }

  const elf::ElfFile& file_;
  FileRange code_;
  abi::UnwindRule untold_;
  Rows rows_;
  FileAddr at_;
};

std::vector<Frame> frames_of(const elf::ElfFile& file, const elf::ElfFile* debug) {
  std::vector<Frame> frames;
  const auto add = [&](const Frame& frame) { frames.push_back(frame); };
  elf::for_each_frame(file, add);
  elf::for_each_debug_frame(file, add);
  if (debug) elf::for_each_debug_frame(*debug, add);
  const auto before = [](const Frame& a, const Frame& b) { return a.range.begin < b.range.begin; };
  if (!std::is_sorted(frames.begin(), frames.end(), before))
    std::stable_sort(frames.begin(), frames.end(), before);
  return frames;
}

}  // namespace

uint64_t SegmentTable::size() const {
  return index.size() * sizeof(index[0]) + rows.size() * sizeof(rows[0]) + rules.size() * sizeof(rules[0]);
}

std::vector<SegmentTable> make_tables(const elf::ElfFile& file, const elf::ElfFile* debug) {
  const std::vector<Frame> frames = frames_of(file, debug);
  const abi::UnwindRule untold = file.is_go() ? frame_pointer_rule() : abi::UnwindRule{};
  std::vector<SegmentTable> tables;
  for (const elf::Segment& segment : file.segments()) {
    const uint64_t size = std::min(segment.range.size(), segment.filesz);
    if (!segment.exec || size == 0 || size > UINT32_MAX) continue;
    const FileRange code = {segment.range.begin, segment.range.begin + size};
    SegmentMaker maker(file, code, untold);
    const auto begins_before = [](const Frame& frame, FileAddr a) { return frame.range.begin < a; };
    auto frame = std::lower_bound(frames.begin(), frames.end(), code.begin, begins_before);
    for (; frame != frames.end() && frame->range.begin < code.end; ++frame) maker.add(*frame);
    tables.push_back(maker.finish());
  }
  return tables;
}

}  // namespace blip::unwind
