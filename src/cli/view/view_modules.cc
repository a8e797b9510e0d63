// SPDX-License-Identifier: MIT
#include "cli/view/view_modules.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "cli/view/babeltrace.h"
#include "ctf/known_fields.h"
#include "session/process/statedump.h"

namespace blip::cli {

namespace {

const bt_field* member(const bt_field* structure, const char* name) {
  return structure ? bt::field_structure_borrow_member_field_by_name_const(structure, name) : nullptr;
}

bool is(const bt_field* field, bt_field_class_type type) {
  return field && bt_field_class_type_is(bt::field_get_class_type(field), type);
}

uint64_t number(const bt_field* structure, const char* name) {
  const bt_field* field = member(structure, name);
  if (is(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) return bt::field_integer_unsigned_get_value(field);
  if (is(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
    return static_cast<uint64_t>(bt::field_integer_signed_get_value(field));
  return 0;
}

std::string text(const bt_field* structure, const char* name) {
  const bt_field* field = member(structure, name);
  return is(field, BT_FIELD_CLASS_TYPE_STRING) ? bt::field_string_get_value(field) : "";
}

std::string hex_bytes(const bt_field* structure, const char* name) {
  const bt_field* field = member(structure, name);
  std::string hex;
  if (!is(field, BT_FIELD_CLASS_TYPE_ARRAY)) return hex;
  for (uint64_t i = 0; i < bt::field_array_get_length(field); ++i) {
    const bt_field* byte = bt::field_array_borrow_element_field_by_index_const(field, i);
    if (!is(byte, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) return {};
    fmt::format_to(std::back_inserter(hex), "{:02x}", bt::field_integer_unsigned_get_value(byte) & 0xff);
  }
  return hex;
}

// In whichever context of the event, or in its packet's.
uint64_t context_number(const bt_event* event, const char* name) {
  const bt_stream* stream = bt::event_borrow_stream_const(event);
  const bt_packet* packet = bt::stream_class_supports_packets(bt::stream_borrow_class_const(stream))
                                ? bt::event_borrow_packet_const(event)
                                : nullptr;
  for (const bt_field* context : {bt::event_borrow_common_context_field_const(event),
                                  bt::event_borrow_specific_context_field_const(event),
                                  packet ? bt::packet_borrow_context_field_const(packet) : nullptr})
    if (member(context, name)) return number(context, name);
  return 0;
}

}  // namespace

// To names that are there already; others are made of all files when they are needed.
void ViewModules::tell_names(int32_t vpid, uint64_t base, const File& file) {
  const auto names = names_.find(vpid);
  if (names != names_.end() && file.is_whole())
    names->second->add_file(file.path, base, file.size, file.build_id);
}

void ViewModules::take_file(int32_t vpid, const bt_field* payload) {
  const uint64_t base = number(payload, "baddr");
  const File file{text(payload, "path"), number(payload, "memsz"), number(payload, "has_build_id") != 0};
  tell_names(vpid, base, files_[vpid][base] = file);
}

void ViewModules::take_build_id(int32_t vpid, const bt_field* payload) {
  const uint64_t base = number(payload, "baddr");
  const auto file = files_[vpid].find(base);
  if (file == files_[vpid].end()) return;
  file->second.build_id = hex_bytes(payload, "build_id");
  tell_names(vpid, base, file->second);
}

void ViewModules::take_place(int32_t vpid, const bt_field* payload) {
  places_[vpid].add({.class_id = static_cast<uint32_t>(number(payload, "event_id")),
                     .begin = number(payload, "address"),
                     .size = number(payload, "size"),
                     .name = text(payload, "name")});
}

// A child of a fork has what its parent has, whose pid the trace need not tell.
std::string ViewModules::place_of(const bt_event* event) const {
  if (places_.empty()) return {};
  const auto class_id = static_cast<uint32_t>(bt::event_class_get_id(bt::event_borrow_class_const(event)));
  const uint64_t ip = context_number(event, ctf::kIpField);
  const auto own = places_.find(static_cast<int32_t>(context_number(event, ctf::kPidField)));
  if (own != places_.end())
    if (std::string name = own->second.at(class_id, ip); !name.empty()) return name;
  for (const auto& [vpid, places] : places_)
    if (std::string name = places.at(class_id, ip); !name.empty()) return name;
  return {};
}

session::FrameNames* ViewModules::names_of(int32_t vpid) {
  if (const auto known = names_.find(vpid); known != names_.end()) return known->second.get();
  const auto files = files_.find(vpid);
  if (files == files_.end()) return nullptr;
  std::shared_ptr<session::FrameNames>& names = names_[vpid];
  for (const auto& [other, there] : names_)
    if (there && files_[other] == files->second) return (names = there).get();
  names = std::make_shared<session::FrameNames>();
  for (const auto& [base, file] : files->second) names->add_file(file.path, base, file.size, file.build_id);
  return names.get();
}

bool ViewModules::take(const bt_event* event) {
  const char* name = bt::event_class_get_name(bt::event_borrow_class_const(event));
  if (!name || !session::is_statedump(name)) return false;
  const auto vpid = static_cast<int32_t>(context_number(event, ctf::kPidField));
  const bt_field* payload = bt::event_borrow_payload_field_const(event);
  const std::string_view kind = std::string_view(name).substr(std::string_view(name).find(':') + 1);
  if (kind == "start") {  // after exec another one
    files_.erase(vpid);
    names_.erase(vpid);
  }
  if (kind == "bin_info" || kind == "load") take_file(vpid, payload);
  if (kind == "build_id") take_build_id(vpid, payload);
  if (name == std::string_view(session::kPlaceEvent)) take_place(vpid, payload);
  if (kind == "unload") {
    files_[vpid].erase(number(payload, "baddr"));
    if (const auto names = names_.find(vpid); names != names_.end())
      names->second->remove(number(payload, "baddr"));
  }
  return true;
}

const std::vector<session::NamedFrame>& ViewModules::of(int32_t vpid, uint64_t address, bool is_return) {
  static const std::vector<session::NamedFrame> unknown(1);
  session::FrameNames* names = names_of(vpid);
  if (!names && !files_.empty()) names = names_of(files_.begin()->first);
  return names ? names->of(address, is_return) : unknown;
}

}  // namespace blip::cli
