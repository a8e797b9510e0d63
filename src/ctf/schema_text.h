// SPDX-License-Identifier: MIT
// Event classes as lines of text, which a later blip makes the same classes of. Words are separated by blanks
// (text_words.h):
//
//   class ID LEADS-WITH-PID MANY-PLACES OF-BLIP NAME
//   field TYPE IS-CONTEXT IS-IMPLICIT NAME           of the class before it
//   duration                                         the field before it is one
//   hit                                              the class before it has a hit word
//   files                                            events of the class before it tell of mapped files
//   output KIND SIZE COUNT MAY-FAULT IS-ADDED        of the class before it
//   typed DEPTH TYPE IS-CONTEXT IS-IMPLICIT OUTPUT BEGIN SIZE SIGNED HEX BIT-OFFSET BIT-SIZE COUNT NAME NOTE
//                                                    a captured field of the class or, if DEPTH is not 0, of
//                                                    the last one of a lower depth
//   label VALUE NAME                                 of the captured field before it
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ctf/schema.h"
#include "ctf/text_words.h"

namespace blip::ctf {

std::string schema_text(std::span<const EventClass> classes);

// Reads lines that anybody may have changed.
class SchemaReader {
 public:
  // One line whose first word, `kind`, is taken. False: it is wrong, or in the wrong place.
  bool take(std::string_view kind, Words& words);
  // The classes, each laid out as its fields say; their ids are unique and follow each other. nullopt: records
  // of one of them cannot be read.
  std::optional<std::vector<EventClass>> finish();

 private:
  bool take_class(Words& words);
  bool take_field(Words& words);
  bool mark_duration();
  bool take_output(Words& words);
  bool take_typed(Words& words);
  bool take_label(Words& words);

  std::vector<EventClass> classes_;
  uint32_t depth_ = 0;  // of the last captured field
};

}  // namespace blip::ctf
