// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace blip::cli {

// Columns of the window that `fd` is shown in; 0: it is no terminal, or does not tell.
size_t window_columns(int fd);

// Columns that a table on `fd` may have: those that the user says in COLUMNS, else those of the window. 0: as
// many as it needs, in pipes and files always.
size_t table_columns(int fd);

// Columns that UTF-8 text takes, one for each character.
size_t text_width(std::string_view text);

// Both ends of a text that is wider, with "..." between them.
std::string cut_in_the_middle(std::string text, size_t width);

}  // namespace blip::cli
