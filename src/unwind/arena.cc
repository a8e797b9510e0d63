// SPDX-License-Identifier: MIT
#include "unwind/arena.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "unwind/rows.h"

namespace blip::unwind {

namespace {

constexpr uint64_t kAlignment = alignof(abi::UnwindModule);

constexpr uint64_t aligned(uint64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

uint64_t list_size(size_t modules) { return sizeof(abi::UnwindList) + modules * sizeof(abi::UnwindModule); }

abi::UnwindModule module_of(const LoadedSegment& segment) {
  const PlacedTable& table = segment.table;
  return {.begin = table.code.begin.value + segment.bias,
          .end = table.code.end.value + segment.bias,
          .index_offset = table.index_offset,
          .rows_offset = table.rows_offset};
}

}  // namespace

TableArena::TableArena(std::span<uint8_t> memory, TargetAddr stacks) : memory_(memory) {
  CHECK(memory.size() >= kMinimum);
  used_ = sizeof(abi::UnwindHeader) + abi::kMaxUnwindRules * sizeof(abi::UnwindRule);
  header().size = memory_.size();
  header().stacks_addr = stacks.value;
  CHECK(publish({}).has_value());
}

Result<uint32_t> TableArena::put(const void* bytes, uint64_t size) {
  const uint64_t limit = std::min<uint64_t>(memory_.size(), UINT32_MAX);
  if (aligned(size) > limit - used_) return Error(ErrorKind::kUnsupported, "no room for unwind tables");
  if (size != 0) std::memcpy(memory_.data() + used_, bytes, size);
  const auto offset = static_cast<uint32_t>(used_);
  used_ += aligned(size);
  return offset;
}

// Rules are there before the rows that have their numbers.
Result<PlacedTable> TableArena::add(const SegmentTable& table) {
  constexpr uint32_t kAddressBits = (1u << abi::kUnwindRuleShift) - 1;
  std::vector<uint32_t> numbers, rows;
  for (const abi::UnwindRule& rule : table.rules) numbers.push_back(rules_.of(rule));
  for (const uint32_t row : table.rows)
    rows.push_back((row & kAddressBits) | numbers[row >> abi::kUnwindRuleShift] << abi::kUnwindRuleShift);
  auto* rules = reinterpret_cast<abi::UnwindRule*>(&header() + 1);
  std::copy(rules_.rules().begin(), rules_.rules().end(), rules);
  PlacedTable placed{.code = table.code};
  TRY(placed.index_offset, put(table.index.data(), table.index.size() * sizeof(table.index[0])));
  TRY(placed.rows_offset, put(rows.data(), rows.size() * sizeof(rows[0])));
  return placed;
}

Status TableArena::publish(const std::vector<LoadedSegment>& segments) {
  std::vector<abi::UnwindModule> modules;
  for (const LoadedSegment& segment : segments) modules.push_back(module_of(segment));
  std::stable_sort(modules.begin(), modules.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<uint8_t> list(sizeof(abi::UnwindList));
  uint64_t end = 0;
  for (const abi::UnwindModule& module : modules) {
    if (module.begin < end || module.begin >= module.end) continue;
    end = module.end;
    const auto* raw = reinterpret_cast<const uint8_t*>(&module);
    list.insert(list.end(), raw, raw + sizeof(module));
  }
  auto* head = reinterpret_cast<abi::UnwindList*>(list.data());
  head->count = static_cast<uint32_t>((list.size() - sizeof(abi::UnwindList)) / sizeof(abi::UnwindModule));
  head->generation = ++generation_;
  TRY(const uint32_t offset, put(list.data(), list.size()));
  __atomic_store_n(&header().list_offset, offset, __ATOMIC_RELEASE);
  return {};
}

uint64_t arena_size(std::span<const SegmentTable> tables, uint32_t changes) {
  uint64_t size = TableArena::kMinimum;
  for (const SegmentTable& table : tables) size += table.size() + 3 * kAlignment;
  return size + changes * aligned(list_size(tables.size()));
}

SegmentTable uniform_table(uint64_t size, abi::UnwindRule::Base base) {
  Rows rows({FileAddr(0), FileAddr(size)});
  rows.from(FileAddr(0), {.base = base});
  return rows.finish();
}

}  // namespace blip::unwind
