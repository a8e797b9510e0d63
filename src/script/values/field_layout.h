// SPDX-License-Identifier: MIT
// The fields of what lies in the bytes of one output: structures by the offsets of their members, as deep as the
// limits allow. Pointers are addresses here.
#pragma once

#include "ctf/schema.h"
#include "script/types/limits.h"
#include "script/types/members.h"

namespace blip::script {

using ctf::Field;
using ctf::FieldType;

struct Extent {
  uint32_t output = ctf::kNoOutput;
  uint64_t offset = 0;
  uint64_t end = 0;  // of the bytes there are
};

// How many fields one field may have: what comes after them is a note.
struct FieldBudget {
  const Limits& limits;
  uint32_t left = 512;

  bool take() { return left > 0 && left-- > 0; }
};

// The kind of a value that has no parts; kNote: it has, or cannot be shown.
FieldType scalar_kind(const Type& type);
Field scalar_field(std::string name, const Type& type, uint32_t output, uint64_t offset);
std::vector<ctf::Label> labels_of(const std::vector<Enumerator>& enumerators);
Field note(std::string name, std::string text);

Field layout_field(std::string name, const Type& type, const Extent& extent, uint32_t depth,
                   FieldBudget& budget);
Field member_field(const FoundMember& member, const Extent& extent, uint32_t depth, FieldBudget& budget);

}  // namespace blip::script
