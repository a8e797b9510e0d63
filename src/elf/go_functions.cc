// SPDX-License-Identifier: MIT
// The table begins with a header of pointer-sized words behind 8 bytes (magic, instruction size, pointer
// size):
//
//   since 1.18:  functions, files, start of text, names, units, files, pcs, functab
//   1.16, 1.17:  functions, files,                names, units, files, pcs, functab
//
// The last five words are offsets.
//
// functab holds one pair per function, {entry, offset in functab of its description}, and a last entry: the
// end of the text. The description begins with the entry again, then a 32-bit offset of the name. Since 1.18
// entries count from the start of the text and the pairs have 32 bits.
#include "elf/go_functions.h"

#include <algorithm>

#include "elf/bytes.h"

namespace blip::elf {
namespace {

constexpr uint32_t kMagic116 = 0xfffffffa;
constexpr uint32_t kMagic118 = 0xfffffff0;
constexpr uint32_t kMagic120 = 0xfffffff1;
constexpr uint64_t kHeaderSize = 8;

class LineTable {
 public:
  // The bytes of the section; `text` is where code begins, for headers that leave it to the loader.
  static std::optional<LineTable> open(std::span<const uint8_t> bytes, uint64_t text) {
    const auto magic = load<uint32_t>(bytes, 0);
    const auto pointer_size = load<uint8_t>(bytes, kHeaderSize - 1);
    if (!magic || !pointer_size || *pointer_size != sizeof(uint64_t)) return std::nullopt;
    LineTable table;
    if (*magic == kMagic118 || *magic == kMagic120) {
      table.word_ = sizeof(uint32_t);
      table.text_ = word(bytes, 2) != 0 ? word(bytes, 2) : text;
    } else if (*magic == kMagic116) {
      table.word_ = sizeof(uint64_t);
    } else {
      return std::nullopt;
    }
    const unsigned names = table.word_ == sizeof(uint32_t) ? 3 : 2;
    table.names_ = clamped(bytes, word(bytes, names), UINT64_MAX);
    table.functab_ = clamped(bytes, word(bytes, names + 4), UINT64_MAX);
    table.count_ = std::min(word(bytes, 0), table.functab_.size() / (2 * table.word_));
    return table;
  }

  uint64_t count() const { return count_; }
  FileAddr entry(uint64_t i) const { return FileAddr(text_ + field(2 * i * word_)); }
  std::string_view name(uint64_t i) const {
    const uint64_t description = field((2 * i + 1) * word_);
    const auto offset = load<uint32_t>(functab_, description + word_);
    return offset ? c_string(names_, *offset) : std::string_view();
  }

 private:
  static uint64_t word(std::span<const uint8_t> bytes, unsigned i) {
    return load<uint64_t>(bytes, kHeaderSize + i * sizeof(uint64_t)).value_or(0);
  }
  uint64_t field(uint64_t offset) const {
    if (word_ == sizeof(uint64_t)) return load<uint64_t>(functab_, offset).value_or(0);
    return load<uint32_t>(functab_, offset).value_or(0);
  }

  std::span<const uint8_t> names_, functab_;
  uint64_t count_ = 0;
  uint64_t text_ = 0;
  uint64_t word_ = 0;  // size of a member of functab
};

}  // namespace

std::vector<Function> go_functions(const ElfFile& file) {
  const Section* section = file.find_section(".gopclntab");
  if (!section) section = file.find_section(".data.rel.ro.gopclntab");
  if (!section) return {};
  const Section* text = file.find_section(".text");
  const auto table = LineTable::open(file.section_bytes(*section), text ? text->range.begin.value : 0);
  if (!table) return {};
  std::vector<Function> functions;
  for (uint64_t i = 0; i < table->count(); ++i) {
    const FileAddr begin = table->entry(i), end = table->entry(i + 1);
    const std::string_view name = table->name(i);
    if (name.empty() || begin >= end || !file.is_code(begin)) continue;
    const uint64_t size = file.bytes({begin, end}).size();  // cut to the segment
    functions.push_back({.name = name, .addr = begin, .size = size});
  }
  std::sort(functions.begin(), functions.end(),
            [](const Function& a, const Function& b) { return a.addr < b.addr; });
  return functions;
}

}  // namespace blip::elf
