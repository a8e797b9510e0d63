// SPDX-License-Identifier: MIT
#include "elf/symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "elf/bytes.h"
#include "elf/go_functions.h"

namespace blip::elf {
namespace {

bool is_defined(const Elf64_Sym& symbol) {
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS && symbol.st_shndx != SHN_COMMON;
}

bool is_function(const Elf64_Sym& symbol) {
  unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && is_defined(symbol);
}

bool is_data(const Elf64_Sym& symbol) {
  unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_OBJECT || type == STT_TLS || type == STT_NOTYPE || type == STT_COMMON) &&
         symbol.st_shndx != SHN_UNDEF;
}

bool is_cold_part(std::string_view name) {
  std::string_view stem = name;
  while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.remove_suffix(1);
  return stem.size() == name.size() ? name.ends_with(".cold") : stem.ends_with(".cold.");
}

// mold writes symbols of type function into its PLT.
std::vector<FileRange> plt_ranges(const ElfFile& file) {
  std::vector<FileRange> ranges;
  for (const Section& section : file.sections())
    if (section.name.starts_with(".plt") || section.name == ".iplt") ranges.push_back(section.range);
  return ranges;
}

bool in_any(const std::vector<FileRange>& ranges, FileAddr address) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const FileRange& r) { return r.contains(address); });
}

template <typename Visit>
void for_each_symbol(std::span<const uint8_t> symbols, Visit visit) {
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym))
    visit(*load<Elf64_Sym>(symbols, at));
}

using Iterator = std::vector<Function>::iterator;

// Keeps each name of the functions at one address once.
Iterator merge_names(Iterator begin, Iterator end) {
  if (end - begin < 2) return end;
  std::sort(begin, end, [](const Function& a, const Function& b) { return a.name < b.name; });
  return std::unique(begin, end, [](const Function& a, const Function& b) { return a.name == b.name; });
}

// Sorting small keys and moving each function once is several times faster than sorting the functions.
std::vector<Function> sorted_by_address(const std::vector<Function>& functions) {
  std::vector<std::pair<FileAddr, uint32_t>> keys;
  keys.reserve(functions.size());
  for (const Function& function : functions)
    keys.emplace_back(function.addr, static_cast<uint32_t>(keys.size()));
  std::sort(keys.begin(), keys.end());
  std::vector<Function> result;
  result.reserve(functions.size());
  for (const auto& [address, index] : keys) result.push_back(functions[index]);
  return result;
}

}  // namespace

std::string_view without_version(std::string_view name) {
  size_t at = name.find('@');
  if (at == std::string_view::npos || at == 0) return name;
  size_t version = at + (name.substr(at).starts_with("@@") ? 2 : 1);
  constexpr std::string_view kVersionCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-+";
  bool is_version = name.find_first_not_of(kVersionCharacters, version) == std::string_view::npos;
  return is_version ? name.substr(0, at) : name;
}

Status SymbolTable::find_tables(const ElfFile& file) {
  int left = 2;  // .symtab and .dynsym; more could make a small file cost as much as a huge one
  for (const Section& section : file.sections()) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
    if (section.link >= file.sections().size() || section.entsize != sizeof(Elf64_Sym))
      return Error(ErrorKind::kInvalid, file.path() + ": malformed symbol table");
    tables_.push_back({file.section_bytes(section), file.section_bytes(file.sections()[section.link])});
    if (--left == 0) break;
  }
  return {};
}

Result<SymbolTable> SymbolTable::load(const ElfFile& file, std::span<const ElfFile> debug_files) {
  SymbolTable result;
  TRY_OK(result.find_tables(file));
  for (const ElfFile& debug_file : debug_files) (void)result.find_tables(debug_file);
  for (const Table& table : result.tables_) result.collect(file, table);
  if (file.is_go() && !file.find_section(".symtab")) {
    const std::vector<Function> own = go_functions(file);
    result.functions_.insert(result.functions_.end(), own.begin(), own.end());
  }
  result.sort_and_merge();
  result.guess_sizes(file);
  result.order_by_size();
  return result;
}

void SymbolTable::collect(const ElfFile& file, const Table& table) {
  const std::vector<FileRange> plt = plt_ranges(file);
  const Segment* segment = nullptr;  // where the last symbol was: mostly the next one's too
  for_each_symbol(table.symbols, [&](const Elf64_Sym& symbol) {
    FileAddr address(symbol.st_value);
    if (!is_function(symbol)) return;
    if (!segment || !segment->range.contains(address)) segment = file.segment_at(address);
    if (!segment || !segment->exec || in_any(plt, address)) return;
    std::string_view name = without_version(c_string(table.names, symbol.st_name));
    if (name.empty()) return;
    uint64_t size = std::min(symbol.st_size, segment->range.end - address);
    functions_.push_back({.name = name,
                          .addr = address,
                          .size = size,
                          .is_ifunc = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC,
                          .is_weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK,
                          .is_cold = is_cold_part(name)});
  });
}

void SymbolTable::add(std::span<const Function> more) {
  functions_.insert(functions_.end(), more.begin(), more.end());
  sort_and_merge();
  order_by_size();
}

void SymbolTable::sort_and_merge() {
  functions_ = sorted_by_address(functions_);
  Iterator kept = functions_.begin();
  for (Iterator begin = kept, end; begin != functions_.end(); begin = end) {
    end = std::find_if(begin, functions_.end(), [&](const Function& f) { return f.addr != begin->addr; });
    kept = std::move(begin, merge_names(begin, end), kept);
  }
  functions_.erase(kept, functions_.end());
}

template <typename Visit>
void SymbolTable::for_each_boundary(const ElfFile& file, Visit visit) const {
  for (const Segment& segment : file.segments()) visit(segment.range.begin + segment.filesz);
  for (const Section& section : file.sections()) {
    visit(section.range.begin);
    visit(section.range.end);
  }
  for (const Table& table : tables_)
    for_each_symbol(table.symbols, [&](const Elf64_Sym& symbol) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS && is_defined(symbol)) visit(FileAddr(symbol.st_value));
    });
}

void SymbolTable::guess_sizes(const ElfFile& file) {
  std::vector<Function*> guessed;  // few, and sorted by address like all functions
  for (Function& function : functions_) {
    if (function.size != 0) continue;
    function.size_guessed = true;
    guessed.push_back(&function);
  }
  if (guessed.empty()) return;
  for_each_boundary(file, [&](FileAddr boundary) {
    auto after = std::lower_bound(guessed.begin(), guessed.end(), boundary,
                                  [](const Function* f, FileAddr b) { return f->addr < b; });
    if (after == guessed.begin()) return;
    Function* nearest = *std::prev(after);
    uint64_t size = boundary - nearest->addr;
    if (nearest->size == 0 || size < nearest->size) nearest->size = size;
  });
  // Names of one address share what the last of them got.
  for (size_t i = guessed.size() - 1; i-- > 0;)
    if (guessed[i]->addr == guessed[i + 1]->addr) guessed[i]->size = guessed[i + 1]->size;
}

void SymbolTable::order_by_size() {
  FileAddr reach;
  reach_.clear();
  reach_.reserve(functions_.size());
  for (Iterator begin = functions_.begin(), end; begin != functions_.end(); begin = end) {
    end = std::find_if(begin, functions_.end(), [&](const Function& f) { return f.addr != begin->addr; });
    if (end - begin > 1)
      std::stable_sort(begin, end, [](const Function& a, const Function& b) { return a.size < b.size; });
    for (Iterator each = begin; each != end; ++each)
      reach_.push_back(reach = std::max(reach, each->range().end));
  }
}

const Function* SymbolTable::function_at(FileAddr address) const {
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](FileAddr a, const Function& f) { return a < f.addr; });
  for (size_t i = static_cast<size_t>(after - functions_.begin()); i-- > 0 && reach_[i] > address;)
    if (functions_[i].range().contains(address)) return &functions_[i];
  return nullptr;
}

namespace {

bool is_name_at(std::span<const uint8_t> names, uint64_t offset, std::string_view wanted) {
  auto text = clamped(names, offset, wanted.size() + 1);
  if (text.size() != wanted.size() + 1 || std::memcmp(text.data(), wanted.data(), wanted.size()) != 0)
    return false;
  return text.back() == 0 || without_version(c_string(names, offset)) == wanted;
}

}  // namespace

std::optional<uint64_t> SymbolTable::object(std::string_view name) const {
  std::optional<uint64_t> value;
  for (const Table& table : tables_)
    for_each_symbol(table.symbols, [&](const Elf64_Sym& symbol) {
      if (!value && is_data(symbol) && is_name_at(table.names, symbol.st_name, name)) value = symbol.st_value;
    });
  return value;
}

}  // namespace blip::elf
