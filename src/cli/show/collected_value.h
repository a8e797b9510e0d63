// SPDX-License-Identifier: MIT
// Values that were collected from many places (collect/steps.h): each text and list says what it lacks.
#pragma once

#include "cli/show/value_text.h"
#include "cli/show/value_writer.h"
#include "collect/steps.h"
#include "ctf/captured.h"

namespace blip::cli {

inline constexpr uint64_t kUnknownSize = UINT64_MAX;  // of a list whose end was not reached

// `state`: as events have it.
inline void write_collected_text(ValueWriter& values, uint8_t told, std::string_view text) {
  if (told == ctf::kEmptyText) return values.text("");
  const auto state = static_cast<collect::State>(told);
  if (state == collect::State::kNull) return values.null();
  if (state == collect::State::kBad) return values.note(kBadAddress);
  values.text(text);
  if (state == collect::State::kCut) values.cut();
}

// `write(i)` writes an element.
template <typename Write>
void write_collected(ValueWriter& values, collect::State state, uint64_t size, uint64_t count, Write write) {
  const bool is_bad = state == collect::State::kBad;
  if (is_bad && count == 0) return values.note(kBadAddress);
  values.open_list();
  for (uint64_t i = 0; i < count; ++i) values.element(i, [&] { write(i); });
  if (is_bad) values.element(count, [&] { values.note(kBadAddress); });
  values.close_list(count == 0, state == collect::State::kCut);
  const bool is_known = size != kUnknownSize && size != count;
  if (state != collect::State::kWhole && is_known) values.in_all(size);
}

}  // namespace blip::cli
