// SPDX-License-Identifier: MIT
// A line is put together from parts rendered once per class (name, "rdi = 0x", ...) and numbers; no
// allocation, no format string, one write per 64 KiB.
#include "cli/show/print.h"

#include <algorithm>
#include <cstring>

#include "base/progress.h"
#include "cli/output/color.h"
#include "cli/output/escape.h"
#include "cli/show/value_text.h"
#include "ctf/known_fields.h"
#include "ctf/packet.h"

namespace blip::cli {
namespace {

constexpr size_t kBatch = 64 << 10;
constexpr std::chrono::milliseconds kShortWait{10};  // the session looks after its targets in between
constexpr int64_t kNsPerSecond = 1'000'000'000;

void append_padded(std::string& out, uint64_t value, unsigned width) {
  char digits[20];
  for (unsigned i = width; i-- > 0; value /= 10) digits[i] = static_cast<char>('0' + value % 10);
  out.append(digits, width);
}

bool is_tid(const ctf::Field& field) { return field.name == ctf::kTidField || field.name == "tid"; }

}  // namespace

struct Printer::ClassFormat {
  struct Part {
    std::string lead;  // all that stands between the value before and this one
    ctf::FieldType type;
    uint32_t offset;
    bool is_place = false;  // an address that is to be followed by its name
  };
  std::string name;  // with colour
  bool has_tid = false;
  Part tid;
  std::vector<Part> parts;
  std::unique_ptr<CapturedValues>
      values;  // of JSON, and of a class with a hit word: instead of tid and parts
};

int64_t measure_realtime_offset() {
  const auto now = [](clockid_t clock) {
    timespec ts;
    clock_gettime(clock, &ts);
    return ts.tv_sec * kNsPerSecond + ts.tv_nsec;
  };
  int64_t best_gap = INT64_MAX;
  int64_t offset = 0;
  for (int i = 0; i < 5; ++i) {  // the narrowest of a few pairs: no preemption in between
    const int64_t before = now(CLOCK_MONOTONIC);
    const int64_t real = now(CLOCK_REALTIME);
    const int64_t gap = now(CLOCK_MONOTONIC) - before;
    if (gap >= best_gap) continue;
    best_gap = gap;
    offset = real - before - gap / 2;
  }
  return offset;
}

Printer::Printer(Output& output, const PrintStyle& style) : output_(output), style_(style) {
  buffer_.reserve(2 * kBatch);
}
Printer::~Printer() = default;

void Printer::event(const session::EventView& view) {
  if (output_.closed()) return;
  ClassFormat& format = format_of(view.event_class);
  if (!view.event_class.has_hit_word && view.record.size() < view.event_class.record_size) return;
  if (format.values && !render(view, format)) return;
  if (style_.json) {
    format.values->append_json(buffer_, static_cast<int64_t>(view.time_ns) + style_.realtime_offset,
                               view.frames_of);
  } else {
    text_line(view, format);
  }
  if (buffer_.size() < kBatch) return;
  if (waits_) {
    finish();
  } else {
    flush();
  }
}

bool Printer::flush() { return buffer_.empty() ? output_.check_reader() : output_.offer(buffer_); }

bool Printer::is_full() {
  if (waits_ || buffer_.size() < kBatch) return false;
  output_.offer(buffer_, kShortWait);
  return buffer_.size() >= kBatch;
}

bool Printer::finish() {
  const progress::Step step("waiting for the reader of the events");
  const bool read = buffer_.empty() ? output_.check_reader() : output_.write(buffer_);
  buffer_.clear();
  return read;
}

Printer::ClassFormat& Printer::format_of(const ctf::EventClass& event_class) {
  if (event_class.id >= formats_.size()) formats_.resize(event_class.id + 1U);
  auto& slot = formats_[event_class.id];
  if (slot) return *slot;
  slot = std::make_unique<ClassFormat>();
  if (style_.color) slot->name += kNameColor;
  append_escaped(slot->name, event_class.name);
  if (style_.color) slot->name += kPlain;
  if (event_class.has_hit_word || style_.json) {
    slot->values = std::make_unique<CapturedValues>(event_class, style_.json);
    return *slot;
  }
  for (const ctf::Field& field : event_class.fields) {
    if (field.offset + ctf::field_size(field.type) > event_class.record_size) continue;
    if (is_tid(field) && !slot->has_tid) {
      slot->has_tid = true;
      slot->tid = {"", field.type, field.offset};
      continue;
    }
    if (field.is_implicit) continue;
    std::string lead = slot->parts.empty() ? ": { " : ", ";
    append_escaped(lead, field.name);
    lead += " = ";
    const bool is_place = event_class.many_places && field.name == ctf::kIpField;
    slot->parts.push_back({std::move(lead), field.type, field.offset, is_place});
  }
  return *slot;
}

void Printer::text_line(const session::EventView& view, const ClassFormat& format) {
  if (style_.color) buffer_ += kDim;
  buffer_ += '[';
  append_clock(static_cast<int64_t>(view.time_ns) + style_.realtime_offset);
  buffer_ += "] (";
  append_delta(view.time_ns);
  buffer_ += ") ";
  if (style_.color) buffer_ += kPlain;
  if (format.has_tid) {
    append_plain(buffer_, format.tid.type, view.record.data() + format.tid.offset, false);
    buffer_ += ' ';
  } else if (format.values && !format.values->tid().empty()) {
    buffer_ += format.values->tid() + ' ';
  }
  append_name(view, format);
  for (const auto& part : format.parts) {
    const uint8_t* from = view.record.data() + part.offset;
    buffer_ += part.lead;
    append_plain(buffer_, part.type, from, false);
    if (part.is_place) append_place(place(view, load<uint64_t>(from)).place, buffer_);
  }
  const std::string* captured = format.values ? &format.values->text() : nullptr;
  if (captured && !captured->empty()) buffer_ += ": { " + *captured;
  buffer_ += format.parts.empty() && (!captured || captured->empty()) ? "\n" : " }\n";
  if (format.values && format.values->backtrace())
    format.values->backtrace()->append_text(buffer_, view.frames_of);
}

bool Printer::render(const session::EventView& view, ClassFormat& format) {
  if (view.record.size() < ctf::kEventHeaderSize) return false;
  return format.values->render(
      view.record.subspan(ctf::kEventHeaderSize),
      [&](uint64_t ip) -> const CapturedValues::HitPlace& { return place(view, ip); });
}

void Printer::append_name(const session::EventView& view, const ClassFormat& format) {
  const auto ip = std::find_if(format.parts.begin(), format.parts.end(),
                               [](const ClassFormat::Part& part) { return part.is_place; });
  const std::string* name = format.values ? &format.values->name() : nullptr;
  if (ip != format.parts.end()) name = &place(view, load<uint64_t>(view.record.data() + ip->offset)).name;
  if (!name || name->empty()) {
    buffer_ += format.name;
    return;
  }
  if (style_.color) buffer_ += kNameColor;
  append_escaped(buffer_, *name);
  if (style_.color) buffer_ += kPlain;
}

const CapturedValues::HitPlace& Printer::place(const session::EventView& view, uint64_t ip) {
  const auto [known, is_new] = places_.try_emplace({view.event_class.id, ip});
  if (is_new && view.place_of) known->second.place = (*view.place_of)(ip);
  if (is_new && view.name_of) known->second.name = (*view.name_of)(view.event_class, ip);
  return known->second;
}

void Printer::append_clock(int64_t realtime_ns) {
  const int64_t second = realtime_ns / kNsPerSecond;
  if (second != cached_second_) {
    const time_t when = second;
    struct tm local = {};
    localtime_r(&when, &local);
    char text[16];
    std::strftime(text, sizeof(text), "%H:%M:%S", &local);
    std::memcpy(cached_clock_, text, sizeof(cached_clock_));
    cached_second_ = second;
  }
  buffer_.append(cached_clock_, sizeof(cached_clock_));
  buffer_ += '.';
  append_padded(buffer_, static_cast<uint64_t>(realtime_ns % kNsPerSecond), 9);
}

// As babeltrace2 writes it; "-" where CPUs were drained out of order.
void Printer::append_delta(uint64_t time_ns) {
  if (!have_last_) {
    buffer_ += "+?.?????????";
  } else {
    const bool back = time_ns < last_time_ns_;
    const uint64_t delta = back ? last_time_ns_ - time_ns : time_ns - last_time_ns_;
    buffer_ += back ? '-' : '+';
    append_number(buffer_, delta / kNsPerSecond);
    buffer_ += '.';
    append_padded(buffer_, delta % kNsPerSecond, 9);
  }
  have_last_ = true;
  last_time_ns_ = time_ns;
}

}  // namespace blip::cli
