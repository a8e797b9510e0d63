// SPDX-License-Identifier: MIT
#include "cli/output/text_table.h"

#include <algorithm>

#include "cli/output/color.h"
#include "cli/output/terminal.h"

namespace blip::cli {
namespace {

constexpr size_t kBetween = 2;
constexpr size_t kLeastFirst = 16;  // of the first column, however narrow the terminal is
constexpr size_t kMostFirst = 100;  // where nothing is cut: a name of 4,000 letters widens its own line only

void append_cell(std::string& out, const std::string& cell, size_t width, TextTable::Align align) {
  const size_t missing = width - std::min(width, text_width(cell));
  if (align == TextTable::Align::kRight) out.append(missing, ' ');
  out += cell;
  if (align == TextTable::Align::kLeft) out.append(missing, ' ');
}

}  // namespace

void TextTable::add(std::vector<std::string> cells, std::string_view paint) {
  rows_.push_back({std::move(cells), paint});
}

std::string TextTable::text(bool color, size_t width) const {
  std::vector<size_t> widths(columns_.size());
  for (const Row& row : rows_)
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], text_width(row.cells[i]));
  size_t others = 0;
  for (size_t i = 1; i < widths.size(); ++i) others += kBetween + widths[i];
  const bool cut = width != 0;
  const size_t most = cut ? std::max(kLeastFirst, width - std::min(width, others)) : kMostFirst;
  widths[0] = std::min(widths[0], most);
  std::string out;
  for (const Row& row : rows_) {
    const bool painted = color && !row.paint.empty();
    if (painted) out += row.paint;
    const std::string& first = row.cells[0];
    append_cell(out, cut ? cut_in_the_middle(first, widths[0]) : first, widths[0], columns_[0]);
    for (size_t i = 1; i < widths.size(); ++i) {
      out.append(kBetween, ' ');
      append_cell(out, row.cells[i], widths[i], columns_[i]);
    }
    if (painted) out += kPlain;
    out += '\n';
  }
  return out;
}

}  // namespace blip::cli
