// SPDX-License-Identifier: MIT
#include "dwarf/units/call_index.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

namespace blip::dwarf {

namespace {

constexpr uint8_t kCall = 0xe8, kJump = 0xe9, kGroup5 = 0xff, kCallSlot = 0x15, kJumpSlot = 0x25;
constexpr uint64_t kCallSize = 5, kSlotSize = 6;

uint64_t distance(const uint8_t* bytes) {
  int32_t value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<uint64_t>(int64_t{value});
}

}  // namespace

CallIndex::CallIndex(Elf* program) {
  size_t size = 0, count = 0;
  const char* file = program ? ::elf_rawfile(program, &size) : nullptr;
  if (!file || ::elf_getphdrnum(program, &count) != 0) return;
  const std::span<const uint8_t> all(reinterpret_cast<const uint8_t*>(file), size);
  bool has_base = false;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (!::gelf_getphdr(program, static_cast<int>(i), &segment) || segment.p_type != PT_LOAD) continue;
    if (!has_base) base_ = segment.p_vaddr;
    has_base = true;
    if (!(segment.p_flags & PF_X) || segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      continue;
    texts_.push_back({FileAddr(segment.p_vaddr), all.subspan(segment.p_offset, segment.p_filesz)});
  }
  for (const Text& text : texts_) scan(text);
  for (std::vector<Use>* uses : {&calls_, &slot_calls_, &slot_jumps_}) std::sort(uses->begin(), uses->end());
}

void CallIndex::add(std::vector<Use>& uses, uint64_t of, uint64_t where) const {
  if (of - base_ <= UINT32_MAX && where - base_ <= UINT32_MAX)
    uses.push_back({static_cast<uint32_t>(of - base_), static_cast<uint32_t>(where - base_)});
}

void CallIndex::scan(const Text& text) {
  const std::span<const uint8_t> bytes = text.bytes;
  for (size_t i = 0; i + kSlotSize <= bytes.size(); ++i) {
    const uint64_t at = text.begin.value + i;
    if (bytes[i] == kCall) {
      const uint64_t target = at + kCallSize + distance(&bytes[i + 1]);
      if (bytes_at(FileAddr(target), 1)) add(calls_, target, at + kCallSize);
    } else if (bytes[i] == kGroup5 && bytes[i + 1] == kCallSlot) {
      add(slot_calls_, at + kSlotSize + distance(&bytes[i + 2]), at + kSlotSize);
    } else if (bytes[i] == kGroup5 && bytes[i + 1] == kJumpSlot) {
      add(slot_jumps_, at + kSlotSize + distance(&bytes[i + 2]), at);
    }
  }
}

std::vector<FileAddr> CallIndex::find(const std::vector<Use>& uses, FileAddr of) const {
  std::vector<FileAddr> result;
  if (of.value - base_ > UINT32_MAX) return result;
  const auto wanted = static_cast<uint32_t>(of.value - base_);
  for (auto use = std::lower_bound(uses.begin(), uses.end(), Use{wanted, 0});
       use != uses.end() && use->of == wanted; ++use)
    result.emplace_back(base_ + use->where);
  return result;
}

std::vector<FileAddr> CallIndex::calls_of(FileAddr target) const { return find(calls_, target); }

// A stub is the jump, behind endbr64 (f3 0f 1e fa), bnd (f2) or both.
std::vector<FileAddr> CallIndex::calls_by(FileAddr slot) const {
  std::vector<FileAddr> result = find(slot_calls_, slot);
  for (const FileAddr jump : find(slot_jumps_, slot))
    for (const uint64_t before : {0, 1, 4, 5}) {
      const auto calls = calls_of(FileAddr(jump.value - before));
      result.insert(result.end(), calls.begin(), calls.end());
    }
  std::sort(result.begin(), result.end());
  return result;
}

const uint8_t* CallIndex::bytes_at(FileAddr at, size_t count) const {
  for (const Text& text : texts_) {
    const uint64_t offset = at.value - text.begin.value;
    if (offset < text.bytes.size() && count <= text.bytes.size() - offset) return &text.bytes[offset];
  }
  return nullptr;
}

std::optional<FileAddr> CallIndex::jump_beginning_at(FileAddr begin) const {
  constexpr uint8_t kTwoBytes = 0x0f, kFirstCondition = 0x80, kLastCondition = 0x8f;
  if (const uint8_t* bytes = bytes_at(begin, kCallSize); bytes && bytes[0] == kJump)
    return FileAddr(begin.value + kCallSize + distance(bytes + 1));
  const uint8_t* bytes = bytes_at(begin, kSlotSize);
  if (!bytes || bytes[0] != kTwoBytes || bytes[1] < kFirstCondition || bytes[1] > kLastCondition)
    return std::nullopt;
  return FileAddr(begin.value + kSlotSize + distance(bytes + 2));
}

std::optional<FileAddr> CallIndex::jump_ending_at(FileAddr end) const {
  const auto plain = jump_beginning_at(FileAddr(end.value - kCallSize));
  if (const uint8_t* first = bytes_at(FileAddr(end.value - kCallSize), 1); plain && first && *first == kJump)
    return plain;
  const uint8_t* first = bytes_at(FileAddr(end.value - kSlotSize), 1);
  return first && *first != kJump ? jump_beginning_at(FileAddr(end.value - kSlotSize)) : std::nullopt;
}

}  // namespace blip::dwarf
