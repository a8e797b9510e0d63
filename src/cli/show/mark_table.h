// SPDX-License-Identifier: MIT
// What `blip list --marks` prints: one line per place of a mark,
//
//   ADDRESS         PATCH   MODULE  NAME
//   0x0000004287f3  window  python  python:gc__start(int arg1)
//
// and with details below it one per argument, and one for its semaphore. Or one JSON object.
#pragma once

#include <string>

#include "cli/show/list_table.h"
#include "session/list/mark_listing.h"

namespace blip::cli {

std::string mark_table(const session::MarkListing& listing, const ListStyle& style);
std::string mark_json(const session::MarkListing& listing);

// "N places of M marks, P can be probed, R refused": scripts parse it.
std::string mark_summary(const session::MarkListing& listing);

}  // namespace blip::cli
