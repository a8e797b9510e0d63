// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ctf/schema.h"

namespace blip::ctf {

// Makes events of the records of one class with a hit word. The fields are turned into a list of steps once:
// most events are a few copies.
class EventPacker {
 public:
  // `event_class` has passed check_outputs().
  explicit EventPacker(const EventClass& event_class);

  // The fields of an event as the file holds them, without the pid; good until the next call. None: the
  // record is not as its class says. The record is the target's: copied before, so that nobody changes it
  // meanwhile. `added`: the bytes of the output that no ring holds.
  std::optional<std::span<const uint8_t>> pack(std::span<const uint8_t> untrusted_record,
                                               std::span<const uint8_t> added = {});

 private:
  enum class Action : uint8_t {
    kCopy,        // `size` bytes
    kBits,        // a bit-field, to `size` bytes
    kLongDouble,  // long_double.h
    kFixedText,   // up to `size` bytes
    kText,        // of an output
    kRepeat,      // the next `steps` steps for `count` elements that lie `size` apart
    kSequence,    // the same for those of an output, behind their count
    kCollected,   // the same for those that were collected; of an output, or the next ones in it
    kCollectedText,
    kNote,
    kFaults,
    kCut,
  };
  struct Step {
    Action action;
    bool is_signed = false;
    uint8_t bit_offset = 0, bit_size = 0;
    uint32_t from = 0;  // in the record or the element
    uint32_t size = 0;
    uint32_t count = 0;
    uint32_t steps = 0;
    uint32_t index = 0;  // of the output or the note
  };
  struct Dynamic {
    uint32_t output;
    uint32_t length_at;
    uint32_t most;  // bytes
    uint32_t unit;  // bytes of an element
    bool is_added = false;
    const uint8_t* bytes = nullptr;  // of the record at hand
    uint32_t size = 0;
  };

  // `base`: of the bytes that fields begin in, from the start of the record or element.
  void compile(const Field& field, uint32_t output, uint32_t base, bool is_element);
  void compile_number(const Field& field, uint32_t from);
  void compile_elements(const Field& field, const Step& step);
  void add_copy(uint32_t from, uint32_t size, size_t barrier);

  bool find_dynamics(std::span<const uint8_t> record, std::span<const uint8_t> added);
  void clear_faults();
  void run(size_t begin, size_t end, const uint8_t* from);
  void run_collected(const Step& step, size_t body);
  void put_collected_text();
  // The next bytes of what was collected; zeros, and is_bad_, if there are not so many.
  const uint8_t* take(size_t size);
  void run_step(const Step& step, size_t body, const uint8_t* from);
  void put_long_double(const uint8_t* from);
  void put_text(const uint8_t* from, uint32_t size, uint32_t output);
  template <typename T>
  void put(T value);

  std::vector<Step> steps_;
  size_t merge_from_ = 0;  // steps before are not added to
  std::vector<std::string> notes_;
  std::vector<RecordOutput> outputs_;
  std::vector<Dynamic> dynamics_;
  std::vector<uint32_t> dynamic_of_;  // by output
  uint32_t fixed_size_;
  std::vector<uint8_t> event_;
  uint8_t* to_ = nullptr;
  std::vector<uint8_t> scratch_;  // a record without what could not be read
  const uint8_t* record_ = nullptr;
  uint64_t faults_ = 0;
  uint64_t cut_ = 0;
  std::span<const uint8_t> collected_;  // what is left of it
  bool is_bad_ = false;
};

}  // namespace blip::ctf
