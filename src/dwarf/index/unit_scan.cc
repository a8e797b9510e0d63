// SPDX-License-Identifier: MIT
// The scan sees the entries that dwarf/units/unit_index.cc and dwarf/inlined.cc would see in the unit: those
// in namespaces and in classes, not those in the bodies of functions. In bodies only copies of functions of
// other units count. Where the abbreviations have none, bodies are skipped (DW_AT_sibling, which gcc writes).
#include "dwarf/index/unit_scan.h"

#include <algorithm>
#include <string>

#include "dwarf/index/entry_reader.h"
#include "dwarf/index/identifier.h"

namespace blip::dwarf {

namespace {

template <typename T>
void make_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

class Scan {
 public:
  Scan(const EntryReader& reader, bool has_foreign_origins, NameHashes& hashes)
      : reader_(reader), has_foreign_origins_(has_foreign_origins), hashes_(hashes) {}

  UnitNames run() {
    Cursor cursor = reader_.begin();
    UnitEntry first;
    result_.is_readable =
        reader_.read(cursor, first) && (!first.kind || !first.kind->has_children || walk(cursor));
    make_unique(result_.inlined);
    make_unique(result_.named);
    make_unique(result_.origins);
    result_.lacks_named |= has_odd_prefix_ && has_declared_elsewhere_;
    return std::move(result_);
  }

 private:
  struct Container {
    int depth;  // of what is in it
    const char* name;
    bool is_odd;
  };

  // From the first child of the unit to the last. False: malformed.
  bool walk(Cursor& cursor) {
    UnitEntry entry;
    for (int depth = 1; depth > 0 && !cursor.at_end();) {
      if (!reader_.read(cursor, entry) || !is_quick()) return false;
      if (!entry.kind) {
        leave(--depth);
        continue;
      }
      note(entry);
      if (!entry.kind->has_children) continue;
      if (can_leap(entry) && entry.sibling > cursor.position())
        cursor.go_to(entry.sibling);
      else
        enter(entry, ++depth);
      if (depth == kDeepest) return false;
    }
    return !cursor.failed();
  }

  // Somebody may have written entries that take much longer than their bytes are worth.
  bool is_quick() const {
    constexpr uint64_t kSteps = 64, kCharacters = 256, kLeast = 1 << 20;
    return reader_.work() <= kSteps * reader_.size() + kLeast &&
           hashes_.work() - work_before_ <= kCharacters * reader_.size() + kLeast;
  }

  bool is_container(const UnitEntry& entry) const {
    return entry.kind->role == Role::kContainer || entry.kind->role == Role::kRecord;
  }

  bool can_leap(const UnitEntry& entry) const {
    return !has_foreign_origins_ && (quiet_ != 0 || !is_container(entry));
  }

  void enter(const UnitEntry& entry, int depth) {
    if (quiet_ != 0) return;
    if (!is_container(entry)) {
      quiet_ = depth;
      return;
    }
    const char* name = reader_.find(entry, &UnitEntry::name).value_or("");
    const bool is_odd = *name && hashes_.of(name).is_odd;
    has_odd_prefix_ |= is_odd;
    containers_.push_back({depth, name, is_odd || (!containers_.empty() && containers_.back().is_odd)});
  }

  void leave(int depth) {
    if (quiet_ > depth) quiet_ = 0;
    while (!containers_.empty() && containers_.back().depth > depth) containers_.pop_back();
  }

  void note(const UnitEntry& entry) {
    const Role role = entry.kind->role;
    if (role == Role::kInlined && entry.outside) result_.origins.push_back(*entry.outside);
    if (quiet_ != 0) return;
    if (role == Role::kFunction)
      note_function(entry);
    else if (role == Role::kRecord || role == Role::kType || role == Role::kVariable)
      note_named(entry);
  }

  void note_function(const UnitEntry& entry) {
    if (entry.is_declaration && !entry.kind->is_inline) return;
    const auto name = reader_.find(entry, &UnitEntry::name);
    const auto linkage_name = reader_.find(entry, &UnitEntry::linkage_name);
    result_.lacks_inlined |= !name || !linkage_name;
    if (name && **name) result_.inlined.push_back(hashes_.of(*name).identifier);
    if (linkage_name && **linkage_name) result_.inlined.push_back(hashes_.of(*linkage_name).whole);
  }

  void note_named(const UnitEntry& entry) {
    if (entry.is_declaration) return;
    const auto name = reader_.find(entry, &UnitEntry::name);
    result_.lacks_named |= !name;
    has_declared_elsewhere_ |= entry.has_origin;
    if (name && **name) result_.named.push_back(identifier_of(*name));
  }

  uint32_t identifier_of(const char* name) {
    if (containers_.empty() || !containers_.back().is_odd) return hashes_.of(name).identifier;
    std::string whole;
    for (const Container& container : containers_)
      whole.append(*container.name ? container.name : "(anonymous namespace)").append("::");
    return name_hash(identifier_in(whole + name));
  }

  static constexpr int kDeepest = 1 << 16;

  const EntryReader& reader_;
  const bool has_foreign_origins_;
  NameHashes& hashes_;
  const uint64_t work_before_ = hashes_.work();
  int quiet_ = 0;  // from this depth on names do not count; 0: they do
  std::vector<Container> containers_;
  bool has_odd_prefix_ = false, has_declared_elsewhere_ = false;
  UnitNames result_;
};

}  // namespace

UnitNames scan_unit(const DebugSections& sections, const UnitHeader& unit, const Abbreviations& abbreviations,
                    NameHashes& hashes) {
  const EntryReader reader(sections, unit, abbreviations);
  return Scan(reader, abbreviations.has_foreign_origins(), hashes).run();
}

}  // namespace blip::dwarf
