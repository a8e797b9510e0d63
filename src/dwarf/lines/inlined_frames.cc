// SPDX-License-Identifier: MIT
#include "dwarf/lines/inlined_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdlib>

#include "dwarf/lines/handles.h"
#include "dwarf/lines/unit_ranges.h"

namespace blip::dwarf {

namespace {

constexpr size_t kMostFrames = 256;  // of one address: a hostile file may nest without end

struct FreeScopes {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};

struct Scopes {
  std::unique_ptr<Dwarf_Die, FreeScopes> dies;
  int count = 0;
};

// The scopes around an address, innermost first. dwarf_getscopes() goes on from an inlined function to where
// that one was written, so only its first answer is taken.
Scopes scopes_at(Dwarf_Die& unit, FileAddr address) {
  Dwarf_Die* found = nullptr;
  const int count = ::dwarf_getscopes(&unit, address.value, &found);
  const std::unique_ptr<Dwarf_Die, FreeScopes> owner(found);
  if (count <= 0) return {};
  Scopes scopes;
  Dwarf_Die* around = nullptr;
  scopes.count = ::dwarf_getscopes_die(found, &around);
  scopes.dies.reset(around);
  return scopes;
}

std::string text(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute value;
  if (!::dwarf_attr_integrate(&die, attribute, &value)) return "";
  const char* string = ::dwarf_formstring(&value);
  return string ? string : "";
}

// Returns the declaration of the function, which stands in the function's scope.
Dwarf_Die declaration_of(Dwarf_Die die) {
  for (const unsigned attribute : {DW_AT_abstract_origin, DW_AT_specification}) {
    Dwarf_Attribute value;
    Dwarf_Die other;
    if (::dwarf_attr(&die, attribute, &value) && ::dwarf_formref_die(&value, &other)) die = other;
  }
  return die;
}

// "ns::type::name".
std::string name_of(Dwarf_Die& die) {
  std::string name = text(die, DW_AT_name);
  Dwarf_Die declaration = declaration_of(die);
  Dwarf_Die* found = nullptr;
  const int count = ::dwarf_getscopes_die(&declaration, &found);
  const std::unique_ptr<Dwarf_Die, FreeScopes> owner(found);
  for (int i = 1; i < count; ++i) {
    const int tag = ::dwarf_tag(&found[i]);
    const char* around = ::dwarf_diename(&found[i]);
    const bool is_scope = tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
    if (is_scope && around) name = std::string(around) + "::" + name;
  }
  return name;
}

uint64_t number(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute value;
  Dwarf_Word word = 0;
  if (!::dwarf_attr(&die, attribute, &value) || ::dwarf_formudata(&value, &word) != 0) return 0;
  return word;
}

// The line of the code at an address, or of a call.
struct Place {
  std::string file;
  uint32_t line = 0;
};

Place place_of(Dwarf_Die& unit, FileAddr address) {
  Dwarf_Line* row = ::dwarf_getsrc_die(&unit, address.value);
  int line = 0;
  if (!row || ::dwarf_lineno(row, &line) != 0 || line <= 0) return {};
  const char* file = ::dwarf_linesrc(row, nullptr, nullptr);
  return {file ? file : "", static_cast<uint32_t>(line)};
}

Place place_of_call(Dwarf_Die& unit, Dwarf_Die& inlined) {
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  const uint64_t file = number(inlined, DW_AT_call_file);
  Place place{"", static_cast<uint32_t>(number(inlined, DW_AT_call_line))};
  if (::dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count) return place;
  const char* name = ::dwarf_filesrc(files, file, nullptr, nullptr);
  if (name) place.file = name;
  return place;
}

}  // namespace

struct InlinedFrames::Tables {
  Handles handles;
  UnitRanges units;
};

InlinedFrames::InlinedFrames(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}
InlinedFrames::InlinedFrames(InlinedFrames&&) noexcept = default;
InlinedFrames& InlinedFrames::operator=(InlinedFrames&&) noexcept = default;
InlinedFrames::~InlinedFrames() = default;

Result<InlinedFrames> InlinedFrames::open(std::span<const uint8_t> image,
                                          std::span<const uint8_t> alternate) {
  auto tables = std::make_unique<Tables>();
  TRY(tables->handles, open_dwarf(image, alternate));
  tables->units = UnitRanges(tables->handles.dwarf.get());
  if (tables->units.empty()) return Error(ErrorKind::kNotFound, "it has no debugging information");
  return InlinedFrames(std::move(tables));
}

std::vector<SourceFrame> InlinedFrames::find(FileAddr address) const {
  const auto offset = tables_->units.find(address);
  Dwarf_Die unit;
  if (!offset || !::dwarf_offdie(tables_->handles.dwarf.get(), *offset, &unit)) return {};
  std::vector<SourceFrame> frames;
  Place place = place_of(unit, address);
  const Scopes scopes = scopes_at(unit, address);
  for (int i = 0; i < scopes.count && frames.size() < kMostFrames; ++i) {
    Dwarf_Die& die = scopes.dies.get()[i];
    const int tag = ::dwarf_tag(&die);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    const bool is_inlined = tag == DW_TAG_inlined_subroutine;
    frames.push_back(
        {name_of(die), text(die, DW_AT_linkage_name), std::move(place.file), place.line, is_inlined});
    if (!is_inlined) return frames;
    place = place_of_call(unit, die);
  }
  if (frames.empty() && place.line != 0) frames.push_back({"", "", place.file, place.line, false});
  return frames;
}

}  // namespace blip::dwarf
