// SPDX-License-Identifier: MIT
// A row of a line table says: from this address on the code belongs to that line. Rows of one line follow
// each other (a statement in parts, each with its column), so a line begins where the row before is of
// another one, or where its first column comes again: copies of an inlined or unrolled line lie side by side.
// Several rows may have one address: those before the last began and ended there, as the line of a call does
// whose inlined body comes first.
#include "dwarf/lines/line_search.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "dwarf/lines/handles.h"

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

void sort_and_merge(auto& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// The facts about a path that fits the name that was asked for.
struct Source {
  std::map<uint32_t, std::vector<FileAddr>> addresses;  // by line, of those asked for
  std::vector<uint32_t> lines;                          // all that have code; sorted
};

// A name of a file, and the lines of it that are asked for.
struct Wanted {
  std::vector<uint32_t> lines;  // sorted
  std::map<std::string, Source> found;
};

class Search {
 public:
  Search(Dwarf* dwarf, std::span<const SourceLine> asked) : dwarf_(dwarf), asked_(asked) {
    for (const SourceLine& a : asked) wanted_[normal(a.file)].lines.push_back(a.line);
    for (auto& [name, wanted] : wanted_) sort_and_merge(wanted.lines);
  }

  Result<std::vector<LineSearch>> run() {
    Dwarf_Off at = 0, next = 0;
    size_t header = 0;
    while (::dwarf_nextcu(dwarf_, at, &next, &header, nullptr, nullptr, nullptr) == 0) {
      Dwarf_Die unit;
      if (::dwarf_offdie(dwarf_, at + header, &unit)) look_into(unit);
      at = next;
    }
    if (tables_.empty()) return Error(ErrorKind::kNotFound, "it has no line tables");
    std::vector<LineSearch> all;
    for (const SourceLine& asked : asked_) all.push_back(answer(asked));
    return all;
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
      paths_.insert(paths[file]);
      for (auto& [name, wanted] : wanted_)
        if (fits(paths[file], name)) collect(rows, file, wanted.lines, wanted.found[paths[file]]);
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

  static void collect(const std::vector<Row>& rows, FileId file, std::span<const uint32_t> wanted,
                      Source& source) {
    uint32_t line = 0;   // of the run of rows, if it is wanted
    bool begun = false;  // the run, and counted
    uint32_t first_column = 0;
    for (const Row& row : rows) {
      const bool is_code = row.file == file && !row.ends_sequence && row.line != 0;
      if (is_code && row.is_statement) source.lines.push_back(row.line);
      if (!is_code || row.line != line) begun = false;
      line = is_code && std::binary_search(wanted.begin(), wanted.end(), row.line) ? row.line : 0;
      if (line == 0 || !row.is_statement || (begun && row.column != first_column)) continue;
      source.addresses[line].push_back(row.address);
      begun = true;
      first_column = row.column;
    }
    sort_and_merge(source.lines);
  }

  LineSearch answer(const SourceLine& asked) {
    const std::string name = normal(asked.file);
    LineSearch result;
    for (auto& [path, source] : wanted_.at(name).found) {
      if (source.lines.empty()) continue;  // no code
      LineMatch match{.path = path};
      if (const auto known = source.addresses.find(asked.line); known != source.addresses.end()) {
        sort_and_merge(known->second);
        match.addresses = known->second;
      }
      const auto after = std::upper_bound(source.lines.begin(), source.lines.end(), asked.line);
      const auto before = std::lower_bound(source.lines.begin(), source.lines.end(), asked.line);
      if (after != source.lines.end()) match.line_after = *after;
      if (before != source.lines.begin()) match.line_before = *std::prev(before);
      result.files.push_back(std::move(match));
    }
    if (result.files.empty())
      std::copy_if(paths_.begin(), paths_.end(), std::back_inserter(result.names),
                   [&](const std::string& path) { return !fits(path, name); });
    return result;
  }

  Dwarf* dwarf_;
  std::span<const SourceLine> asked_;
  std::map<std::string, Wanted> wanted_;
  std::set<Dwarf_Word> tables_;
  std::set<std::string> paths_;
};

}  // namespace

Result<std::vector<LineSearch>> search_lines(std::span<const uint8_t> image,
                                             std::span<const SourceLine> lines) {
  TRY(const Handles handles, open_dwarf(image));
  return Search(handles.dwarf.get(), lines).run();
}

}  // namespace blip::dwarf
