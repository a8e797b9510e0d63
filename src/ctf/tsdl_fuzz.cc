// SPDX-License-Identifier: MIT
// Any name in the metadata: one string literal or one identifier, of printable UTF-8, from which nothing
// escapes. And any class that the description in a target may hold: it is refused, or can be declared and
// packed.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "ctf/event_packer.h"
#include "ctf/metadata.h"

namespace {

using namespace blip::ctf;

void check_text(std::string_view text) {
  const std::string literal = tsdl_string(text);
  CHECK(literal.size() >= 2 && literal.front() == '"' && literal.back() == '"');
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    CHECK(static_cast<uint8_t>(literal[i]) >= 0x20 && literal[i] != 0x7f && literal[i] != '"');
    if (literal[i] != '\\') continue;
    ++i;
    CHECK(i + 1 < literal.size() && (literal[i] == '\\' || literal[i] == '"'));
  }
  CHECK(tsdl_string(literal).size() >= literal.size() || text.size() > 60'000);
  const std::string name = tsdl_identifier(text);
  CHECK(!name.empty() && name.front() == '_');
  CHECK(std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }));
}

// Takes what it needs from the input; nothing is left: zeros.
class Bytes {
 public:
  explicit Bytes(std::string_view from) : from_(from) {}

  bool empty() const { return from_.empty(); }
  uint8_t byte() {
    if (from_.empty()) return 0;
    const auto b = static_cast<uint8_t>(from_.front());
    from_.remove_prefix(1);
    return b;
  }
  // Mostly small, sometimes huge.
  uint32_t size() {
    const uint8_t b = byte();
    return b < 0xf0 ? b : b == 0xff ? UINT32_MAX : uint32_t{1} << (b & 15) * 2;
  }
  std::string text() {
    const std::string_view some = from_.substr(0, byte() % 8);
    from_.remove_prefix(std::min(some.size(), from_.size()));
    return std::string(some);
  }

 private:
  std::string_view from_;
};

Field any_field(Bytes& from, int depth) {
  Field f{.name = from.text()};
  f.type = static_cast<FieldType>(from.byte() % (static_cast<int>(FieldType::kUint8) + 1));
  const uint8_t flags = from.byte();
  f.is_context = flags & 1;
  f.is_signed = flags & 2;
  f.is_hex = flags & 4;
  f.output = flags & 8 ? kNoOutput : from.byte() % 4;
  f.begin = flags & 16 ? 0 : from.size();
  f.size = from.size();
  f.count = from.size();
  if (flags & 32) f.bit_offset = from.byte(), f.bit_size = from.byte();
  for (int i = from.byte() % 4; i > 0; --i) f.labels.push_back({from.byte() - 3, from.text()});
  if (depth < 20 && f.type >= FieldType::kArray)
    for (int i = flags & 64 ? 1 : from.byte() % 4; i > 0; --i)
      f.members.push_back(any_field(from, depth + 1));
  f.note = from.text();
  return f;
}

void check_class(Bytes from) {
  EventClass c{.id = 1, .name = from.text()};
  c.has_hit_word = true;
  for (int i = from.byte() % 5; i > 0; --i)
    c.outputs.push_back({static_cast<RecordOutput::Kind>(from.byte() % 3), from.size(), from.size()});
  for (int i = 0; i < 8 && !from.empty(); ++i) c.fields.push_back(any_field(from, 0));
  lay_out(c);
  if (!check_outputs(c)) return;
  (void)metadata_text({}, std::span(&c, 1), {});
  EventPacker packer(c);
  std::vector<uint8_t> record(ring_record_size(c));
  for (uint8_t& b : record) b = from.byte();
  const auto size = static_cast<uint16_t>(record.size());
  std::memcpy(&record[8], &size, sizeof size);
  if (const auto event = packer.pack(record)) CHECK(event->size() <= fields_size(c));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_text(text);
  check_class(Bytes(text));
  return 0;
}
