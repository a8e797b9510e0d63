// SPDX-License-Identifier: MIT
#include "ctf/event_packer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "abi/layout.h"
#include "base/check.h"
#include "collect/steps.h"
#include "ctf/captured.h"
#include "ctf/long_double.h"

namespace blip::ctf {

namespace {

template <typename T>
T load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A bit-field may begin at any bit of its first byte and so touch nine.
uint64_t load_bits(const uint8_t* from, unsigned bit_offset, unsigned bit_size, bool is_signed) {
  __extension__ using Wide = unsigned __int128;
  Wide wide = 0;
  std::memcpy(&wide, from, (bit_offset + bit_size + 7) / 8);
  const auto bits = static_cast<uint64_t>(wide >> bit_offset);
  const unsigned unused = 64 - bit_size;
  const uint64_t high = bits << unused;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(high) >> unused) : high >> unused;
}

}  // namespace

EventPacker::EventPacker(const EventClass& event_class)
    : outputs_(event_class.outputs),
      dynamic_of_(outputs_.size()),
      fixed_size_(event_class.fixed_size),
      event_(fields_size(event_class)) {
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    const RecordOutput& o = outputs_[i];
    if (!o.is_dynamic()) continue;
    dynamic_of_[i] = static_cast<uint32_t>(dynamics_.size());
    dynamics_.push_back({i, o.offset, static_cast<uint32_t>(o.most_bytes()),
                         o.kind == RecordOutput::Kind::kSequence ? o.size : 1, o.is_added});
  }
  for (size_t i = event_class.leads_with_pid ? 1 : 0; i < event_class.fields.size(); ++i) {
    const Field& field = event_class.fields[i];
    if (is_plain(field.type)) {
      add_copy(field.offset, field_size(field.type), merge_from_);
    } else {
      compile(field, kNoOutput, 0, false);
    }
  }
}

void EventPacker::compile(const Field& field, uint32_t output, uint32_t base, bool is_element) {
  if (field.output != kNoOutput && !is_element) {
    output = field.output;
    base = outputs_[output].offset;
  }
  const bool is_dynamic = output != kNoOutput && outputs_[output].is_dynamic() && !is_element;
  const uint32_t from = base + field.begin;
  switch (field.type) {
    case FieldType::kStruct:
      for (const Field& member : field.members) compile(member, output, base, is_element);
      return;
    case FieldType::kArray:
      compile_elements(field,
                       {.action = Action::kRepeat, .from = from, .size = field.size, .count = field.count});
      return;
    case FieldType::kSequence:
      compile_elements(field, {.action = Action::kSequence, .size = field.size, .index = output});
      return;
    case FieldType::kCollected:
      compile_elements(
          field,
          {.action = Action::kCollected, .size = field.size, .index = is_element ? kNoOutput : output});
      return;
    case FieldType::kCollectedText:
      steps_.push_back({.action = Action::kCollectedText});
      return;
    case FieldType::kText:
      if (is_dynamic) {
        steps_.push_back({.action = Action::kText, .index = output});
      } else {
        steps_.push_back({.action = Action::kFixedText, .from = from, .size = field.count});
      }
      return;
    case FieldType::kNote:
      steps_.push_back({.action = Action::kNote, .index = static_cast<uint32_t>(notes_.size())});
      notes_.push_back(field.note.substr(0, field.note.find('\0')));
      return;
    case FieldType::kFaults:
      steps_.push_back({.action = Action::kFaults});
      return;
    case FieldType::kCut:
      steps_.push_back({.action = Action::kCut});
      return;
    default:
      compile_number(field, from);
  }
}

void EventPacker::compile_number(const Field& field, uint32_t from) {
  if (field.bit_size != 0) {
    steps_.push_back({.action = Action::kBits,
                      .is_signed = field.is_signed,
                      .bit_offset = field.bit_offset,
                      .bit_size = field.bit_size,
                      .from = from,
                      .size = field.size});
  } else if (is_long_double(field)) {
    steps_.push_back({.action = Action::kLongDouble, .from = from});
  } else {
    add_copy(from, field.size, merge_from_);
  }
}

// Elements that are nothing but themselves are one copy.
void EventPacker::compile_elements(const Field& field, const Step& step) {
  const size_t at = steps_.size();
  steps_.push_back(step);
  const size_t outer = std::exchange(merge_from_, steps_.size());
  compile(field.members.front(), kNoOutput, 0, true);
  steps_[at].steps = static_cast<uint32_t>(steps_.size() - at - 1);
  const Step body = steps_.back();
  const bool as_it_is =
      steps_[at].steps == 1 && body.action == Action::kCopy && body.from == 0 && body.size == step.size;
  if (step.action == Action::kRepeat && as_it_is) {
    steps_.resize(at);
    merge_from_ = outer;
    add_copy(step.from, step.size * step.count, outer);
  } else {
    merge_from_ = steps_.size();
  }
}

void EventPacker::add_copy(uint32_t from, uint32_t size, size_t barrier) {
  if (steps_.size() > barrier && steps_.back().action == Action::kCopy &&
      steps_.back().from + steps_.back().size == from) {
    steps_.back().size += size;
  } else {
    steps_.push_back({.action = Action::kCopy, .from = from, .size = size});
  }
}

bool EventPacker::find_dynamics(std::span<const uint8_t> record, std::span<const uint8_t> added) {
  uint64_t at = fixed_size_;
  for (Dynamic& d : dynamics_) {
    if (d.is_added) {
      d.bytes = added.data();
      d.size = std::min(d.most, static_cast<uint32_t>(added.size()));
      continue;
    }
    const auto told = load<uint16_t>(&record[d.length_at]);
    const auto length = static_cast<uint32_t>(told & ~abi::kLengthCut);
    if (told & abi::kLengthCut) cut_ |= uint64_t{1} << d.output;
    if (length > d.most || (d.unit != 1 && length % d.unit != 0) || at + length > record.size()) return false;
    d.bytes = record.data() + at;
    d.size = length;
    at += length;
  }
  return true;
}

void EventPacker::clear_faults() {
  scratch_.assign(record_, record_ + fixed_size_);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if ((faults_ >> i & 1) == 0) continue;
    const RecordOutput& o = outputs_[i];
    if (o.kind != RecordOutput::Kind::kString) cut_ &= ~(uint64_t{1} << i);  // else: it was NULL
    if (o.is_dynamic()) {
      dynamics_[dynamic_of_[i]].size = 0;
    } else {
      std::memset(&scratch_[o.offset], 0, o.size);
    }
  }
}

std::optional<std::span<const uint8_t>> EventPacker::pack(std::span<const uint8_t> record,
                                                          std::span<const uint8_t> added) {
  if (record.size() < fixed_size_) return std::nullopt;
  const auto hit_word = load<uint64_t>(&record[abi::kHitWordOffset]);
  const auto size = static_cast<uint16_t>(hit_word);
  if (size < fixed_size_ || size > record.size()) return std::nullopt;
  faults_ = hit_word >> abi::kHitFaultShift;
  cut_ = 0;
  if (faults_ >> outputs_.size() != 0 || !find_dynamics(record.first(size), added)) return std::nullopt;
  record_ = record.data();
  const uint8_t* fixed = record_;
  if (faults_ != 0) [[unlikely]] {
    clear_faults();
    fixed = scratch_.data();
  }
  to_ = event_.data();
  is_bad_ = false;
  run(0, steps_.size(), fixed);
  if (is_bad_) return std::nullopt;
  return std::span<const uint8_t>(event_.data(), to_);
}

void EventPacker::run(size_t begin, size_t end, const uint8_t* from) {
  for (size_t i = begin; i < end; ++i) {
    const Step& step = steps_[i];
    if (step.action == Action::kCopy) [[likely]] {
      std::memcpy(to_, from + step.from, step.size);
      to_ += step.size;
      continue;
    }
    run_step(step, i + 1, from);
    i += step.steps;
  }
}

void EventPacker::run_step(const Step& step, size_t body, const uint8_t* from) {
  switch (step.action) {
    case Action::kCopy:
      return;
    case Action::kBits: {
      const uint64_t value = load_bits(from + step.from, step.bit_offset, step.bit_size, step.is_signed);
      std::memcpy(to_, &value, step.size);
      to_ += step.size;
      return;
    }
    case Action::kLongDouble:
      return put_long_double(from + step.from);
    case Action::kFixedText: {
      const auto size =
          static_cast<uint32_t>(::strnlen(reinterpret_cast<const char*>(from + step.from), step.size));
      return put_text(from + step.from, size, kNoOutput);
    }
    case Action::kText: {
      const Dynamic& d = dynamics_[dynamic_of_[step.index]];
      return put_text(d.bytes, d.size, step.index);
    }
    case Action::kRepeat:
      for (uint32_t i = 0; i < step.count; ++i)
        run(body, body + step.steps, from + step.from + size_t{i} * step.size);
      return;
    case Action::kSequence: {
      const Dynamic& d = dynamics_[dynamic_of_[step.index]];
      const uint32_t count = d.size / d.unit;
      put(static_cast<uint16_t>(count));
      for (uint32_t i = 0; i < count; ++i) run(body, body + step.steps, d.bytes + size_t{i} * d.unit);
      return;
    }
    case Action::kCollected:
      return run_collected(step, body);
    case Action::kCollectedText:
      return put_collected_text();
    case Action::kNote: {
      const std::string& note = notes_[step.index];
      return put_text(reinterpret_cast<const uint8_t*>(note.data()), static_cast<uint32_t>(note.size()),
                      kNoOutput);
    }
    case Action::kFaults:
      return put(faults_);
    case Action::kCut:
      return put(cut_);
  }
}

const uint8_t* EventPacker::take(size_t size) {
  static constexpr uint8_t kZeros[UINT16_MAX + 1] = {};
  if (size > collected_.size()) {
    is_bad_ = true;
    collected_ = {};
    return size <= sizeof kZeros ? kZeros : nullptr;
  }
  const uint8_t* taken = collected_.data();
  collected_ = collected_.subspan(size);
  return taken;
}

// Whatever it says, no more comes of it than there is room for: each element takes some of its bytes.
void EventPacker::run_collected(const Step& step, size_t body) {
  if (step.index != kNoOutput) {
    const Dynamic& d = dynamics_[dynamic_of_[step.index]];
    collected_ = {d.bytes, d.size};
  }
  const uint8_t state = *take(1);
  const auto size = load<uint64_t>(take(sizeof(uint64_t)));
  const auto count = load<uint16_t>(take(sizeof(uint16_t)));
  if (state >= collect::kStates) is_bad_ = true;
  if (is_bad_) return;
  put(state);
  put(size);
  put(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t* from = take(step.size);
    if (is_bad_) return;
    run(body, body + step.steps, from);
  }
}

void EventPacker::put_collected_text() {
  uint8_t state = *take(1);
  const auto size = load<uint16_t>(take(sizeof(uint16_t)));
  const uint8_t* text = take(size);
  if (state >= collect::kStates) is_bad_ = true;
  if (is_bad_) return;
  if (std::memchr(text, 0, size) != nullptr) state = static_cast<uint8_t>(collect::State::kCut);
  // babeltrace2 2.0 may show an older text for an empty one.
  put(size == 0 && state == 0 ? kEmptyText : state);
  put_text(text, size, kNoOutput);
}

// A string in the file ends at its first NUL: what was behind it is cut off.
void EventPacker::put_text(const uint8_t* from, uint32_t size, uint32_t output) {
  if (const void* end = size == 0 ? nullptr : std::memchr(from, 0, size)) {
    size = static_cast<uint32_t>(static_cast<const uint8_t*>(end) - from);
    if (output != kNoOutput) cut_ |= uint64_t{1} << output;
  }
  if (size != 0) std::memcpy(to_, from, size);
  to_ += size;
  put(uint8_t{0});
}

void EventPacker::put_long_double(const uint8_t* from) {
  const LongDouble value(from);
  put(value.nearest());
  put_text(reinterpret_cast<const uint8_t*>(value.digits().data()),
           static_cast<uint32_t>(value.digits().size()), kNoOutput);
}

template <typename T>
void EventPacker::put(T value) {
  std::memcpy(to_, &value, sizeof value);
  to_ += sizeof value;
}

}  // namespace blip::ctf
