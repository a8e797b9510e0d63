// SPDX-License-Identifier: MIT
// .eh_frame (LSB 5.0, 10.6): records of a length, an id and a body. Id 0 is a CIE, which holds what its FDEs
// share; otherwise it is an FDE, and the id is the distance back to its CIE. In .debug_frame (DWARF 5, 6.4.1)
// the id of a CIE is UINT32_MAX, and that of an FDE is where in the section its CIE is.
#include "elf/eh_frame.h"

#include <dwarf.h>
#include <elf.h>

#include <unordered_map>

namespace blip::elf {
namespace {

constexpr uint8_t kFormat = 0x0f, kRelation = 0x70;

// Real ones have some 30 bytes; a hostile file could overlap huge ones.
constexpr uint64_t kLongestCie = 4096;

struct Cie {
  uint8_t pointer_encoding = DW_EH_PE_absptr;
  uint8_t lsda_encoding = DW_EH_PE_omit;
  bool has_augmentation = false;
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  bool is_signal_frame = false;
  std::span<const uint8_t> instructions;
};

struct Part {
  std::span<const uint8_t> bytes;
  FileAddr start;
  bool ends_at_terminator = false;
  bool is_debug_frame = false;
};

// Takes the section to which .eh_frame_hdr points. Its end is unknown; only a terminator marks it.
Part find_by_program_header(const ElfFile& file) {
  const ProgramHeader* header = file.find_program_header(PT_GNU_EH_FRAME);
  if (!header) return {};
  ByteReader reader(file.bytes(header->range));
  reader.skip(1);
  auto encoding = reader.read<uint8_t>();
  reader.skip(2);
  auto start = read_encoded_pointer(reader, encoding, header->range.begin);
  if (!start) return {};
  return {file.bytes_from(*start), *start, true};
}

Part find_eh_frame(const ElfFile& file) {
  const Section* section = file.find_section(".eh_frame");
  if (section && !section->range.empty()) return {file.section_bytes(*section), section->range.begin, false};
  return find_by_program_header(file);
}

Part find_debug_frame(const ElfFile& file) {
  const Section* section = file.find_section(".debug_frame");
  if (!section || (section->flags & SHF_COMPRESSED)) return {};
  return {file.section_bytes(*section), FileAddr(0), false, true};
}

bool read_augmentation(ByteReader& reader, std::string_view letters, Cie& cie) {
  for (char letter : letters) {
    if (letter == 'R')
      cie.pointer_encoding = reader.read<uint8_t>();
    else if (letter == 'L')
      cie.lsda_encoding = reader.read<uint8_t>();
    else if (letter == 'P')
      read_encoded_value(reader, reader.read<uint8_t>());
    else if (letter == 'S')
      cie.is_signal_frame = true;
    else if (letter != 'B')
      return false;
  }
  return reader.ok();
}

std::span<const uint8_t> rest_of(std::span<const uint8_t> body, const ByteReader& reader) {
  return reader.ok() ? body.subspan(reader.position()) : std::span<const uint8_t>();
}

// `body` is what follows the id.
std::optional<Cie> parse_cie(std::span<const uint8_t> body) {
  ByteReader reader(body);
  auto version = reader.read<uint8_t>();
  std::string_view augmentation = reader.c_string();
  if (version != 1 && version != 3 && version != 4) return std::nullopt;
  if (version == 4) reader.skip(2);  // address and segment size
  Cie cie;
  cie.code_alignment = reader.uleb128();
  cie.data_alignment = reader.sleb128();
  if (version == 1)
    reader.skip(1);  // return address register
  else
    reader.uleb128();
  if (!augmentation.starts_with('z')) {
    cie.instructions = rest_of(body, reader);
    return reader.ok() && augmentation.empty() ? std::optional(cie) : std::nullopt;
  }
  cie.has_augmentation = true;
  const uint64_t size = reader.uleb128();
  ByteReader behind = reader;
  behind.skip(size);
  cie.instructions = rest_of(body, behind);
  if (!read_augmentation(reader, augmentation.substr(1), cie)) return std::nullopt;
  return cie;
}

std::optional<Frame> parse_fde(std::span<const uint8_t> body, FileAddr start, const Cie& cie) {
  ByteReader reader(body);
  auto begin = read_encoded_pointer(reader, cie.pointer_encoding, start);
  uint64_t size = read_encoded_value(reader, cie.pointer_encoding & kFormat);
  if (!begin || !reader.ok() || size == 0 || size > UINT64_MAX - begin->value) return std::nullopt;
  Frame frame{.range = {*begin, *begin + size},
              .initial = cie.instructions,
              .code_alignment = cie.code_alignment,
              .data_alignment = cie.data_alignment,
              .is_signal_frame = cie.is_signal_frame};
  if (!cie.has_augmentation) {
    frame.instructions = rest_of(body, reader);
    return frame;
  }
  const uint64_t augmentation = reader.uleb128();
  ByteReader behind = reader;
  behind.skip(augmentation);
  frame.instructions = rest_of(body, behind);
  if (cie.lsda_encoding != DW_EH_PE_omit) frame.lsda = read_encoded_pointer(reader, cie.lsda_encoding, start);
  return frame;
}

class Walker {
 public:
  Walker(const ElfFile& file, const std::function<void(const Frame&)>& visit, const Part& part)
      : file_(file), visit_(visit), part_(part) {}

  void run() {
    for (uint64_t at = 0; at < part_.bytes.size();) {
      auto record = record_at(at);
      if (!record) return;
      if (record->next == at + 4 && part_.ends_at_terminator) return;
      if (!is_cie(*record)) visit_record(*record);
      at = record->next;
    }
  }

 private:
  struct Record {
    uint64_t id_at;  // offset of the id; the body follows
    uint32_t id;
    std::span<const uint8_t> body;
    uint64_t next;
  };

  std::optional<Record> record_at(uint64_t at) const {
    auto length32 = load<uint32_t>(part_.bytes, at);
    if (!length32) return std::nullopt;
    uint64_t length = *length32, id_at = at + 4;
    if (length == UINT32_MAX) {
      auto length64 = load<uint64_t>(part_.bytes, at + 4);
      if (!length64) return std::nullopt;
      length = *length64;
      id_at = at + 12;
    }
    if (length > part_.bytes.size() - id_at) return std::nullopt;
    if (length < 4) return Record{id_at, 0, {}, id_at + length};
    return Record{id_at, *load<uint32_t>(part_.bytes, id_at), part_.bytes.subspan(id_at + 4, length - 4),
                  id_at + length};
  }

  bool is_cie(const Record& record) const { return record.id == (part_.is_debug_frame ? UINT32_MAX : 0); }

  void visit_record(const Record& record) {
    if (record.id > record.id_at) return;
    const std::optional<Cie>& cie = cie_at(part_.is_debug_frame ? record.id : record.id_at - record.id);
    if (!cie) return;
    auto frame = parse_fde(record.body, part_.start + (record.id_at + 4), *cie);
    if (frame && file_.is_code(frame->range.begin)) visit_(*frame);
  }

  const std::optional<Cie>& cie_at(uint64_t at) {
    auto [entry, is_new] = cies_.try_emplace(at);
    if (!is_new) return entry->second;
    auto record = record_at(at);
    if (record && is_cie(*record)) entry->second = parse_cie(clamped(record->body, 0, kLongestCie));
    return entry->second;
  }

  const ElfFile& file_;
  const std::function<void(const Frame&)>& visit_;
  Part part_;
  std::unordered_map<uint64_t, std::optional<Cie>> cies_;
};

}  // namespace

uint64_t read_encoded_value(ByteReader& reader, uint8_t encoding) {
  switch (encoding & kFormat) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return reader.read<uint64_t>();
    case DW_EH_PE_uleb128:
      return reader.uleb128();
    case DW_EH_PE_sleb128:
      return static_cast<uint64_t>(reader.sleb128());
    case DW_EH_PE_udata2:
      return reader.read<uint16_t>();
    case DW_EH_PE_sdata2:
      return static_cast<uint64_t>(int64_t{reader.read<int16_t>()});
    case DW_EH_PE_udata4:
      return reader.read<uint32_t>();
    case DW_EH_PE_sdata4:
      return static_cast<uint64_t>(int64_t{reader.read<int32_t>()});
    default:
      reader.skip(UINT64_MAX);  // unknown size: nothing behind it can be read
      return 0;
  }
}

std::optional<FileAddr> read_encoded_pointer(ByteReader& reader, uint8_t encoding, FileAddr start) {
  if (encoding == DW_EH_PE_omit) return std::nullopt;
  FileAddr here = start + reader.position();
  uint64_t value = read_encoded_value(reader, encoding);
  bool relative = (encoding & kRelation) == DW_EH_PE_pcrel;
  bool usable = relative || (encoding & kRelation) == DW_EH_PE_absptr;
  if (!reader.ok() || value == 0 || !usable || (encoding & DW_EH_PE_indirect)) return std::nullopt;
  return relative ? here + value : FileAddr(value);
}

void for_each_frame(const ElfFile& file, const std::function<void(const Frame&)>& visit) {
  Walker(file, visit, find_eh_frame(file)).run();
}

void for_each_debug_frame(const ElfFile& file, const std::function<void(const Frame&)>& visit) {
  Walker(file, visit, find_debug_frame(file)).run();
}

}  // namespace blip::elf
