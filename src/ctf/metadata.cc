// SPDX-License-Identifier: MIT
#include "ctf/metadata.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "ctf/field_groups.h"
#include "ctf/packet.h"
#include "ctf/tsdl_types.h"

namespace blip::ctf {

namespace {

constexpr int kTracerMajor = BLIP_VERSION_MAJOR;
constexpr int kTracerMinor = BLIP_VERSION_MINOR;
constexpr int64_t kNsPerSecond = 1'000'000'000;

// ts48_t has align = 1 (bit): with 8, babeltrace 1.5 aborts on an integer of 48 bits.
constexpr const char* kPreamble = R"(/* CTF 1.8 */

typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 32; align = 8; signed = true; }} := int32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 64; align = 8; signed = false; base = 16; }} := hex64_t;
typealias integer {{ size = 8; align = 8; signed = false; encoding = UTF8; }} := utf8_t;

trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = le;
	packet.header := struct {{
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	}};
}};

env {{
	domain = "ust";
	tracer_name = "blip";
	tracer_major = {major};
	tracer_minor = {minor};
	architecture_bit_width = 64;
	hostname = {hostname};
	procname = {procname};
	vpid = {vpid};
	command_line = {command_line};
	trace_creation_datetime = {creation_time};
}};

clock {{
	name = "monotonic";
	description = "CLOCK_MONOTONIC";
	freq = 1000000000;
	offset_s = {offset_s};
	offset = {offset};
	absolute = TRUE;
}};

typealias integer {{ size = 48; align = 1; signed = false; map = clock.monotonic.value; }} := ts48_t;
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := ts64_t;
)";

constexpr const char* kStream = R"(
stream {{
	id = {id};
	event.header := struct {{
		uint16_t id;
		ts48_t timestamp;
	}} align(8);
	packet.context := struct {{
		ts64_t timestamp_begin;
		ts64_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t packet_seq_num;
		uint64_t events_discarded;
		uint32_t cpu_id;
{packet_vpid}	}};
{event_context}}};
)";

std::string uuid_text(const Uuid& uuid) {
  std::string out;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", uuid[i]);
  }
  return out;
}

// Writes what one stream class looks like, and its events.
class StreamText {
 public:
  StreamText(uint32_t id, std::span<const EventClass> classes, FieldDeclarer& declarer)
      : id_(id), classes_(classes), declarer_(declarer) {}

  void add_to(std::string& out) const {
    using fmt::arg;
    const size_t count = common_contexts();
    const std::string common = count == 0 ? "" : scope(classes_.front(), true, 0, count);
    fmt::format_to(std::back_inserter(out), kStream, arg("id", id_),
                   arg("packet_vpid", id_ == kStreamOfOneProcess ? "\t\tint32_t vpid;\n" : ""),
                   arg("event_context", common.empty() ? "" : "\tevent.context := " + common + ";\n"));
    add_unused(out);
    for (const EventClass& event_class : classes_) add_event(out, event_class, count);
  }

 private:
  bool is_there(const EventClass& event_class, const Field& field) const {
    const bool told_by_packets = event_class.leads_with_pid && field.is_implicit &&
                                 &field == &event_class.fields.front() && id_ == kStreamOfOneProcess;
    return !told_by_packets;
  }

  // The declarations of the contexts or of the payload.
  std::vector<std::string> declarations(const EventClass& event_class, bool contexts) const {
    std::vector<Field> fields;
    for (const Field& field : event_class.fields)
      if (field.is_context == contexts && is_there(event_class, field)) fields.push_back(field);
    std::vector<std::string> names = scope_names(fields);
    const std::vector<std::string> paths = output_paths(event_class);
    for (size_t i = 0; i < fields.size(); ++i) names[i] = declarer_.declare(fields[i], names[i], paths);
    return names;
  }

  static std::vector<Field> payload_of(const EventClass& event_class) {
    std::vector<Field> fields;
    for (const Field& field : event_class.fields)
      if (!field.is_context) fields.push_back(field);
    return fields;
  }

  // "struct { ... }" of some of them.
  std::string scope(const EventClass& event_class, bool contexts, size_t begin = 0,
                    size_t end = SIZE_MAX) const {
    const std::vector<std::string> all = declarations(event_class, contexts);
    std::string out = "struct { ";
    for (size_t i = begin; i < std::min(end, all.size()); ++i) out += all[i] + " ";
    return out + "}";
  }

  bool names_addresses() const {
    return std::any_of(classes_.begin(), classes_.end(), [](const EventClass& c) { return c.tells_files; });
  }

  // babeltrace2's filter that names addresses (--debug-info) asks for ids from 0 on, and aborts at a gap.
  void add_unused(std::string& out) const {
    for (unsigned id = 0; !classes_.empty() && id < classes_.front().id; ++id)
      fmt::format_to(std::back_inserter(out),
                     "\nevent {{\n\tname = \"blip:unused\";\n\tid = {};\n\tstream_id = {};\n\tfields := "
                     "struct {{ }};\n}};\n",
                     id, id_);
  }

  // How many contexts all classes have in common: all or none, except where readers look for the first ones
  // there to name addresses (blip's own events begin with them).
  size_t common_contexts() const {
    if (classes_.empty()) return 0;
    const std::vector<std::string> first = declarations(classes_.front(), true);
    size_t count = first.size();
    bool same = true;
    for (const EventClass& c : classes_) {
      const std::vector<std::string> here = declarations(c, true);
      const auto differs = std::mismatch(first.begin(), first.end(), here.begin(), here.end()).first;
      count = std::min(count, static_cast<size_t>(differs - first.begin()));
      same = same && here == first;
    }
    return same || names_addresses() ? count : 0;
  }

  void add_event(std::string& out, const EventClass& event_class, size_t common) const {
    fmt::format_to(std::back_inserter(out), "\nevent {{\n\tname = {};\n\tid = {};\n\tstream_id = {};\n",
                   tsdl_string(event_class.name.empty() ? "(unnamed)" : event_class.name), event_class.id,
                   id_);
    fmt::format_to(std::back_inserter(out), "\tmodel.emf.uri = {};\n",
                   tsdl_string(payload_uri(payload_of(event_class))));
    if (declarations(event_class, true).size() > common)
      out += "\tcontext := " + scope(event_class, true, common) + ";\n";
    out += "\tfields := " + scope(event_class, false) + ";\n};\n";
  }

  uint32_t id_;
  std::span<const EventClass> classes_;
  FieldDeclarer& declarer_;
};

}  // namespace

Uuid random_uuid() {
  Uuid uuid{};
  // Cannot fail for so few bytes once the system is up.
  [[maybe_unused]] const ssize_t got = ::getrandom(uuid.data(), uuid.size(), 0);
  uuid[6] = uint8_t((uuid[6] & 0x0F) | 0x40);
  uuid[8] = uint8_t((uuid[8] & 0x3F) | 0x80);
  return uuid;
}

std::string metadata_text(const TraceInfo& info, std::span<const EventClass> classes, const Uuid& uuid) {
  using fmt::arg;
  const int64_t offset = std::max<int64_t>(info.realtime_offset, 0);
  std::string out = fmt::format(kPreamble, arg("uuid", uuid_text(uuid)), arg("major", kTracerMajor),
                                arg("minor", kTracerMinor), arg("hostname", tsdl_string(info.hostname)),
                                arg("procname", tsdl_string(info.procname)), arg("vpid", info.vpid),
                                arg("command_line", tsdl_string(info.command_line)),
                                arg("creation_time", tsdl_string(info.creation_time)),
                                arg("offset_s", offset / kNsPerSecond), arg("offset", offset % kNsPerSecond));
  FieldDeclarer declarer;
  std::string streams;
  StreamText(kStreamOfOneProcess, classes, declarer).add_to(streams);
  if (info.streams_of_several) StreamText(kStreamOfSeveral, classes, declarer).add_to(streams);
  return out + declarer.definitions() + streams;
}

}  // namespace blip::ctf
