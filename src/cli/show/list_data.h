// SPDX-License-Identifier: MIT
// What `blip list -v` shows of a program's data, below the line of a function:
//
//       int parse(struct request * req, int n)
//         req        struct request *  rdi
//         n          int               rsi
//         sum        int               optimized out
//       struct request, 24 bytes
//         0     4  int id
//         8     8  char * path
//         16:3  5  int kind : 5
#pragma once

#include <string>

#include "session/list/listed_data.h"

namespace blip::cli {

void append_data(std::string& out, const session::ListedData& data);
// ,"signature":...,"variables":[...],"types":[...]; nothing where nothing is known.
void append_data_json(std::string& out, const session::ListedData& data);

}  // namespace blip::cli
