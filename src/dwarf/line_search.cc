// SPDX-License-Identifier: MIT
// A row of a line table says: from this address on the code belongs to that line. Rows of one line follow
// each other (a statement in parts, each with its column), so a line begins where the row before is of
// another one, or where its first column comes again: copies of an inlined or unrolled line lie side by side.
// Several rows may have one address: those before the last began and ended there, as the line of a call does
// whose inlined body comes first.
#include "dwarf/line_search.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "dwarf/handles.h"

namespace blip::dwarf {

namespace {

// An index into the paths of a table: it may list a file more than once.
using FileId = size_t;

struct Row {
  FileAddr address;
  const char* name = nullptr;  // of the file
  FileId file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  bool is_statement = false;
  bool ends_sequence = false;
};

bool fits(std::string_view path, std::string_view wanted) {
  if (path == wanted) return true;
  return path.ends_with(wanted) && path[path.size() - wanted.size() - 1] == '/';
}

std::string normal(std::string_view path) { return std::filesystem::path(path).lexically_normal().string(); }

Row row_of(Dwarf_Line* from) {
  Row row;
  Dwarf_Addr address = 0;
  int line = 0, column = 0;
  if (::dwarf_lineaddr(from, &address) == 0) row.address = FileAddr(address);
  if (::dwarf_lineno(from, &line) == 0 && line > 0) row.line = static_cast<uint32_t>(line);
  if (::dwarf_linecol(from, &column) == 0 && column > 0) row.column = static_cast<uint32_t>(column);
  row.name = ::dwarf_linesrc(from, nullptr, nullptr);
  ::dwarf_linebeginstatement(from, &row.is_statement);
  ::dwarf_lineendsequence(from, &row.ends_sequence);
  return row;
}

class Search {
 public:
  Search(Dwarf* dwarf, std::string_view file, uint32_t line)
      : dwarf_(dwarf), wanted_(normal(file)), line_(line) {}

  Result<LineSearch> run() {
    Dwarf_Off at = 0, next = 0;
    size_t header = 0;
    while (::dwarf_nextcu(dwarf_, at, &next, &header, nullptr, nullptr, nullptr) == 0) {
      Dwarf_Die unit;
      if (::dwarf_offdie(dwarf_, at + header, &unit)) look_into(unit);
      at = next;
    }
    if (tables_.empty()) return Error(ErrorKind::kNotFound, "it has no line tables");
    return take();
  }

 private:
  // Units may share a table.
  bool is_new_table(Dwarf_Die& unit) {
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    if (!::dwarf_attr(&unit, DW_AT_stmt_list, &attribute)) return false;
    return ::dwarf_formudata(&attribute, &offset) == 0 && tables_.insert(offset).second;
  }

  void look_into(Dwarf_Die& unit) {
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (!is_new_table(unit) || ::dwarf_getsrclines(&unit, &lines, &count) != 0) return;
    std::vector<Row> rows;
    rows.reserve(count);
    for (size_t i = 0; i < count; ++i) rows.push_back(row_of(::dwarf_onesrcline(lines, i)));
    const std::vector<std::string> paths = number_files(rows);
    for (FileId file = 0; file < paths.size(); ++file) {
      if (fits(paths[file], wanted_))
        collect(rows, file, found_[paths[file]]);
      else
        others_.insert(paths[file]);
    }
  }

  static std::vector<std::string> number_files(std::vector<Row>& rows) {
    std::vector<std::string> paths;
    std::map<const char*, FileId> by_name;
    for (Row& row : rows) {
      const auto [known, is_new] = by_name.try_emplace(row.name, 0);
      if (is_new) {
        std::string path = row.name ? normal(row.name) : "";
        known->second = static_cast<FileId>(std::find(paths.begin(), paths.end(), path) - paths.begin());
        if (known->second == paths.size()) paths.push_back(std::move(path));
      }
      row.file = known->second;
    }
    return paths;
  }

  void collect(const std::vector<Row>& rows, FileId file, LineMatch& match) {
    bool begun = false;  // in a run of rows of the line, and counted
    uint32_t first_column = 0;
    for (const Row& row : rows) {
      note_neighbour(row, file, match);
      if (row.file != file || row.line != line_ || row.ends_sequence) {
        begun = false;
        continue;
      }
      if (!row.is_statement || (begun && row.column != first_column)) continue;
      match.addresses.push_back(row.address);
      begun = true;
      first_column = row.column;
    }
  }

  void note_neighbour(const Row& row, FileId file, LineMatch& match) const {
    if (row.file != file || row.ends_sequence || !row.is_statement || row.line == 0) return;
    if (row.line < line_) match.line_before = std::max(match.line_before, row.line);
    if (row.line > line_ && (match.line_after == 0 || row.line < match.line_after))
      match.line_after = row.line;
  }

  LineSearch take() {
    LineSearch result;
    for (auto& [path, match] : found_) {
      if (match.addresses.empty() && match.line_before == 0 && match.line_after == 0) continue;  // no code
      match.path = path;
      std::sort(match.addresses.begin(), match.addresses.end());
      match.addresses.erase(std::unique(match.addresses.begin(), match.addresses.end()),
                            match.addresses.end());
      result.files.push_back(std::move(match));
    }
    if (result.files.empty()) result.names.assign(others_.begin(), others_.end());
    return result;
  }

  Dwarf* dwarf_;
  std::string wanted_;
  uint32_t line_;
  std::set<Dwarf_Word> tables_;
  std::map<std::string, LineMatch> found_;
  std::set<std::string> others_;
};

}  // namespace

Result<LineSearch> search_line(std::span<const uint8_t> image, std::string_view file, uint32_t line) {
  TRY(const Handles handles, open_dwarf(image));
  return Search(handles.dwarf.get(), file, line).run();
}

}  // namespace blip::dwarf
