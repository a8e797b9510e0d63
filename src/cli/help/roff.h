// SPDX-License-Identifier: MIT
// Text to roff (man macros): escaped, with fonts for what is typed and what stands for something.
#pragma once

#include <string>
#include <string_view>

namespace blip::cli {

// Nothing in the result is a request or an escape; hyphens stay what they are when copied.
std::string roff_escaped(std::string_view text);

// Running text: `words in backquotes` become bold.
std::string roff_text(std::string_view text);

// Paragraphs separated by an empty line.
std::string roff_paragraphs(std::string_view text);

// A page whose lines of running text are no longer than 80 bytes.
std::string roff_filled(std::string_view page);

// A command line or an option: CAPITALS stand for a value (italic), the rest is typed (bold), brackets, bars
// and dots are neither.
std::string roff_usage(std::string_view text);

}  // namespace blip::cli
