// SPDX-License-Identifier: MIT
// Names of types in casts and prototypes.
#pragma once

#include "script/expression.h"
#include "script/token_stream.h"

namespace blip::script {

// True if the token `ahead` can only begin the name of a type: int, struct, const ...
bool begins_type(const TokenStream& tokens, size_t ahead = 0);

// "const char *", "unsigned long", "struct request **", "ns::request".
Result<TypeName> parse_type_name(TokenStream& tokens);

}  // namespace blip::script
