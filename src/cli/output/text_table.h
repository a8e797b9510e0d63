// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace blip::cli {

// Rows of cells under each other, two blanks between columns. The first row is the heading.
class TextTable {
 public:
  enum class Align { kLeft, kRight };

  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns; `paint` is the colour of the line.
  void add(std::vector<std::string> cells, std::string_view paint = {});

  // At most `width` columns wide, if that leaves some of the first cells: those are cut in their middle, so
  // that the numbers stay in sight. 0: nothing is cut, and a very long first cell stands out of its column.
  std::string text(bool color, size_t width) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string_view paint;
  };

  std::vector<Align> columns_;
  std::vector<Row> rows_;
};

}  // namespace blip::cli
