// SPDX-License-Identifier: MIT
// The names and fields are those of LTTng-UST (lttng-ust(3), "State dump"). What readers of that kind want
// besides: each event has the process and an address, `vpid` and `ip`, in the context that all events share.
#include "session/process/statedump.h"

#include <cstring>

#include "base/hex.h"
#include "elf/debug_link.h"
#include "session/plan/contexts.h"

namespace blip::session {

namespace {

using Type = ctf::FieldType;

struct KindFact {
  const char* name;
  std::vector<ctf::Field> payload;
};

ctf::Field byte(const char* name) { return {.name = name, .type = Type::kInt, .size = 1}; }
ctf::Field address(const char* name) { return {.name = name, .type = Type::kHex64}; }
ctf::Field text(const char* name) { return {.name = name, .type = Type::kText}; }

std::vector<ctf::Field> info_fields() {
  return {address("baddr"),     {.name = "memsz", .type = Type::kUint64},
          text("path"),         byte("is_pic"),
          byte("has_build_id"), byte("has_debug_link")};
}
std::vector<ctf::Field> build_id_fields() {
  ctf::Field bytes{.name = "build_id", .type = Type::kSequence, .size = 1};
  bytes.members = {byte("")};
  return {address("baddr"), bytes};
}
std::vector<ctf::Field> debug_link_fields() {
  return {address("baddr"), {.name = "crc", .type = Type::kUint32}, text("filename")};
}

// In the order of Statedump::Kind.
std::vector<KindFact> kinds() {
  return {{"lttng_ust_statedump:start", {}},
          {"lttng_ust_statedump:bin_info", info_fields()},
          {"lttng_ust_statedump:build_id", build_id_fields()},
          {"lttng_ust_statedump:debug_link", debug_link_fields()},
          {"lttng_ust_statedump:end", {}},
          {"lttng_ust_lib:load", info_fields()},
          {"lttng_ust_lib:build_id", build_id_fields()},
          {"lttng_ust_lib:debug_link", debug_link_fields()},
          {"lttng_ust_lib:unload", {address("baddr")}},
          {kPlaceEvent,
           {{.name = "event_id", .type = Type::kUint32},
            address("address"),
            {.name = "size", .type = Type::kUint64},
            text("name")}}};
}

template <typename T>
void add(std::vector<uint8_t>& to, T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

void add_text(std::vector<uint8_t>& to, std::string_view text) {
  constexpr size_t kMost = 3000;  // an event fits a packet
  text = text.substr(0, kMost);
  to.insert(to.end(), text.begin(), text.end());
  to.push_back(0);
}

uint64_t first_address(const probe::Module& module) {
  return module.extent().begin.value / abi::kPageSize * abi::kPageSize;
}

}  // namespace

bool is_statedump(std::string_view name) {
  return name.starts_with("lttng_ust_statedump:") || name.starts_with("lttng_ust_lib:") ||
         name == kPlaceEvent;
}

void complete_statedump_class(ctf::EventClass& c) {
  for (const KindFact& kind : kinds()) {
    if (c.name != kind.name) continue;
    std::erase_if(c.fields, [](const ctf::Field& f) { return !f.is_context; });
    c.fields.insert(c.fields.end(), kind.payload.begin(), kind.payload.end());
    ctf::lay_out(c);
  }
}

Statedump::Statedump(ClassTable& classes) {
  const std::vector<KindFact> all = kinds();
  const ctf::Field ip = context_field(contexts::kIp);
  for (size_t i = 0; i < all.size(); ++i) ids_[i] = classes.add_own({all[i].name, ip, all[i].payload, true});
}

Result<std::unique_ptr<ctf::StreamWriter>> Statedump::open(const TraceOutput& output, uint64_t number,
                                                           int32_t vpid) const {
  TRY(ctf::StreamWriter writer, ctf::StreamWriter::create(output.dir.dir_fd(), output.prefix + "statedump",
                                                          output.uuid, {number, ctf::kNoCpu, vpid}));
  return std::make_unique<ctf::StreamWriter>(std::move(writer));
}

void Statedump::put(const Told& told, Kind kind, const std::vector<uint8_t>& payload) const {
  std::vector<uint8_t> fields;
  add(fields, uint64_t{0});  // ip
  fields.insert(fields.end(), payload.begin(), payload.end());
  told.to.append_with_pid(told.time_ns, ids_[kind], told.vpid, fields.data(),
                          static_cast<uint32_t>(fields.size()));
}

void Statedump::tell(const Told& told, const probe::Module& module, Kind info, Kind build_id,
                     Kind debug_link) const {
  const uint64_t base = first_address(module);
  const std::string id = module.file().build_id();
  const auto link = elf::debug_link(module.file());
  std::vector<uint8_t> payload;
  add(payload, base);
  add(payload, uint64_t{module.extent().end.value - base});
  add_text(payload, module.path());
  add(payload, uint8_t{module.file().is_position_independent()});
  add(payload, uint8_t{!id.empty()});
  add(payload, uint8_t{link.has_value()});
  put(told, info, payload);
  if (!id.empty()) {
    const std::vector<uint8_t> bytes = from_hex(id);
    payload.clear();
    add(payload, base);
    add(payload, static_cast<uint16_t>(bytes.size()));
    payload.insert(payload.end(), bytes.begin(), bytes.end());
    put(told, build_id, payload);
  }
  if (!link) return;
  payload.clear();
  add(payload, base);
  add(payload, link->crc);
  add_text(payload, link->name);
  put(told, debug_link, payload);
}

void Statedump::dump(ctf::StreamWriter& to, int32_t vpid, uint64_t time_ns,
                     std::span<const probe::Module> modules) const {
  const Told told{to, vpid, time_ns};
  put(told, kStart, {});
  for (const probe::Module& module : modules) tell(told, module, kBinInfo, kBuildId, kDebugLink);
  put(told, kEnd, {});
}

void Statedump::places(ctf::StreamWriter& to, int32_t vpid, uint64_t time_ns,
                       std::span<const PlaceName> names) const {
  std::vector<uint8_t> payload;
  for (const PlaceName& place : names) {
    payload.clear();
    add(payload, place.class_id);
    add(payload, place.begin);
    add(payload, place.size);
    add_text(payload, place.name);
    put({to, vpid, time_ns}, kPlace, payload);
  }
}

void Statedump::loaded(ctf::StreamWriter& to, int32_t vpid, uint64_t time_ns,
                       const probe::Module& module) const {
  tell({to, vpid, time_ns}, module, kLoad, kLoadBuildId, kLoadDebugLink);
}

void Statedump::unloaded(ctf::StreamWriter& to, int32_t vpid, uint64_t time_ns,
                         const probe::Module& module) const {
  std::vector<uint8_t> payload;
  add(payload, first_address(module));
  put({to, vpid, time_ns}, kUnload, payload);
}

}  // namespace blip::session
