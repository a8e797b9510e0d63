// SPDX-License-Identifier: MIT
#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/fd.h"
#include "x86/test_elf.h"

namespace blip::x86::test {
namespace {

class Sections {
 public:
  explicit Sections(std::span<const uint8_t> file) : file_(file), header_(at<Elf64_Ehdr>(0)) {}

  std::optional<Elf64_Shdr> find(std::string_view name) const {
    auto names = section(header_.e_shstrndx);
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      auto s = section(i);
      if (name == reinterpret_cast<const char*>(file_.data() + names.sh_offset + s.sh_name)) return s;
    }
    return std::nullopt;
  }
  template <typename T>
  T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }

 private:
  Elf64_Shdr section(unsigned i) const { return at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)); }

  std::span<const uint8_t> file_;
  Elf64_Ehdr header_;
};

using Functions = std::vector<TextOfFile::Function>;

Functions from_symbols(const Sections& sections) {
  Functions out;
  for (const char* name : {".dynsym", ".symtab"}) {
    auto table = sections.find(name);
    for (uint64_t at = 0; table && at < table->sh_size; at += sizeof(Elf64_Sym)) {
      auto symbol = sections.at<Elf64_Sym>(table->sh_offset + at);
      auto type = ELF64_ST_TYPE(symbol.st_info);
      if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_size > 0)
        out.push_back({TargetAddr(symbol.st_value), symbol.st_size});
    }
  }
  return out;
}

// .eh_frame_hdr as every Linux linker writes it: a table of (function, FDE), both relative to its own
// address.
Functions from_unwind_table(const Sections& sections) {
  Functions out;
  auto header = sections.find(".eh_frame_hdr");
  auto frames = sections.find(".eh_frame");
  if (!header || !frames) return out;
  auto count = sections.at<uint32_t>(header->sh_offset + 8);
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t entry = header->sh_offset + 12 + i * 8ul;
    uint64_t function = header->sh_addr + static_cast<uint64_t>(int64_t{sections.at<int32_t>(entry)});
    uint64_t fde = header->sh_addr + static_cast<uint64_t>(int64_t{sections.at<int32_t>(entry + 4)});
    auto size = sections.at<uint32_t>(frames->sh_offset + (fde - frames->sh_addr) + 12);
    out.push_back({TargetAddr(function), size});
  }
  return out;
}

void keep_one_per_address(Functions& functions, AddrRange text) {
  std::erase_if(functions,
                [&](const auto& f) { return !text.contains(f.addr) || f.size > text.end - f.addr; });
  std::sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) {
    return a.addr != b.addr ? a.addr < b.addr : a.size > b.size;
  });
  auto same = [](const auto& a, const auto& b) { return a.addr == b.addr; };
  functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
}

}  // namespace

TextOfFile::Bytes TextOfFile::bytes_of(size_t i) const {
  const Function& f = functions[i];
  return {text.subspan(f.addr - base, f.size), f.addr};
}

std::vector<TargetAddr> TextOfFile::starts() const {
  std::vector<TargetAddr> out;
  for (const Function& f : functions) out.push_back(f.addr);
  return out;
}

TextOfFile text_of_file(const std::string& path, FunctionsFrom source) {
  TextOfFile out;
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return out;
  auto size = ::lseek(fd.get(), 0, SEEK_END);
  auto file = Mapping::create(static_cast<size_t>(size), PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (!file || std::memcmp(file->data(), ELFMAG, SELFMAG) != 0) return out;
  out.file = std::move(*file);
  Sections sections(out.file.bytes());
  auto text = sections.find(".text");
  if (!text) return out;
  out.text = out.file.bytes().subspan(text->sh_offset, text->sh_size);
  out.base = TargetAddr(text->sh_addr);
  out.functions = source == FunctionsFrom::kSymbols ? from_symbols(sections) : from_unwind_table(sections);
  keep_one_per_address(out.functions, {out.base, out.base + out.text.size()});
  return out;
}

}  // namespace blip::x86::test
