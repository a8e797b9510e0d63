// SPDX-License-Identifier: MIT
// Elements that are there: an index beyond the known length of an array or a container finds something else.
// Pointers know no length, and an array of one element or none that ends a structure may have any.
#pragma once

#include "script/values/containers.h"

namespace blip::script {

// The begin and the number of the elements of an array, pointer or container.
struct Elements {
  Operand first;            // a pointer to it, or an array
  uint32_t length = kNone;  // a node: how many there are; kNone: not known
};

Result<Elements> find_elements(Access& access, const Operand& whole, const FindType& find_type);

// The refusal of a constant index. The length must be known.
Error no_such_element(Builder& builder, const Elements& all);

// The address of the element `index`, which a caller has calculated, if there is such an element. Otherwise a
// load from it faults; if the address itself is wanted, computing it does. The length must be known.
Result<uint32_t> address_within(Builder& builder, const Elements& all, uint32_t index, uint32_t address,
                                bool is_loaded);

// The end of a slice, cut at the last element. A slice that begins before the first one has no elements. The
// length must be known.
Result<uint32_t> end_within(Builder& builder, const Elements& all, uint32_t from, uint32_t to);

}  // namespace blip::script
