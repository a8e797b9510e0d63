// SPDX-License-Identifier: MIT
// Follows a table of steps (steps.h). The same code runs in the tests and, freestanding, in the target, so:
// no recursion, no calls but of the reader, which reads memory or says that it cannot. Memory may be anything
// and may change meanwhile.
#pragma once

#include "collect/steps.h"

namespace blip::collect {

// Reader: bool read(void* to, uint64_t address, uint32_t size), of memory that may not be there.
template <typename Reader>
class Collector {
 public:
  Collector(const Table& table, const Step* steps, const Reader& reader, uint8_t* out)
      : steps_(steps), reader_(reader), begin_(out), out_(out), end_(out + table.size), hops_(table.hops) {}

  // How many bytes it has written. `given`: of kGiven, how many elements.
  uint32_t run(uint64_t object, uint64_t given) {
    given_ = given;
    open(0, object, 0);
    while (level_ != 0) {
      Frame& f = frames_[level_ - 1];
      if (f.part == steps_[f.step].next) {
        next_element(f);
      } else {
        next_part(f);
      }
    }
    return static_cast<uint32_t>(out_ - begin_);
  }

 private:
  struct Frame {
    uint64_t at;     // of the element, or its node
    uint64_t end;    // of the elements, of a block, or the node that ends it
    uint64_t place;  // of kBlocks and kIndexed: where the block's address is
    uint16_t head;   // in the output
    uint16_t left;   // elements to come
    uint16_t shown;
    uint16_t reserve;  // bytes that others need
    uint16_t step, part;
  };

  template <typename T>
  static void put(uint8_t* to, T value) {
    __builtin_memcpy(to, &value, sizeof value);
  }
  bool load(uint64_t& word, uint64_t address) const { return reader_.read(&word, address, sizeof word); }
  uint32_t room(uint32_t reserve) const {
    const auto left = static_cast<uint64_t>(end_ - out_);
    return left < reserve ? 0 : static_cast<uint32_t>(left - reserve);
  }
  static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

  uint8_t* head(const Frame& f) const { return begin_ + f.head; }
  void set_state(const Frame& f, State state) { *head(f) = static_cast<uint8_t>(state); }
  void close(const Frame& f, State state) {
    set_state(f, state);
    put(head(f) + 9, f.shown);
    --level_;
  }

  // There is room for its head.
  [[gnu::noinline]] void open(uint16_t at, uint64_t object, uint32_t reserve) {
    const Step& s = steps_[at];
    Frame& f = frames_[level_++];
    f.step = at;
    f.part = s.next;
    f.head = static_cast<uint16_t>(out_ - begin_);
    f.reserve = static_cast<uint16_t>(reserve);
    f.shown = 0;
    uint64_t size = 0;
    const bool is_known = find(s, f, object, size);
    put(out_, uint8_t{0});
    put(out_ + 1, size);
    put(out_ + 9, uint16_t{0});
    out_ += kSequenceHead;
    f.left = static_cast<uint16_t>(least(size, s.limit));
    if (!is_known) {
      f.left = 0;
      set_state(f, State::kBad);
    } else {
      set_state(f, size > s.limit ? State::kCut : State::kWhole);
    }
  }

  // Finds where the elements of an object begin, and how many there are.
  bool find(const Step& s, Frame& f, uint64_t object, uint64_t& size) const {
    f.at = f.end = 0;
    switch (s.where) {
      case Where::kInline:
        f.at = object + s.a;
        size = s.count;
        return true;
      case Where::kIf: {
        uint8_t flag;
        if (!reader_.read(&flag, object + s.b, 1)) return false;
        f.at = object + s.a;
        size = flag != 0;
        return true;
      }
      case Where::kGiven:
        f.at = object;
        size = given_;
        return true;
      case Where::kCounted:
        size = s.count;
        return load(f.at, object + s.a) && (s.b == kNoSize || load(size, object + s.b));
      case Where::kBetween:
        if (!load(f.at, object + s.a) || !load(f.end, object + s.b)) return false;
        if (f.end < f.at) return false;
        size = (f.end - f.at) / s.stride;
        return true;
      case Where::kTree:
      case Where::kChain:
        if (!load(f.at, object + s.a)) return false;
        f.end = s.c == kNoSize ? 0 : object + s.c;
        size = UINT64_MAX;
        return s.b == kNoSize || load(size, object + s.b);
      case Where::kBlocks:
        return find_blocks(s, f, object, size);
      case Where::kIndexed:
        return find_indexed(s, f, object, size);
      default:
        return false;
    }
  }

  bool find_blocks(const Step& s, Frame& f, uint64_t object, uint64_t& size) const {
    uint64_t first, last, last_first, last_place;
    const uint64_t begin = object + s.a, end = object + s.b;
    if (!load(f.at, begin) || !load(first, begin + 8) || !load(f.end, begin + 16) ||
        !load(f.place, begin + 24) || !load(last, end) || !load(last_first, end + 8) ||
        !load(last_place, end + 24))
      return false;
    const uint64_t blocks = (last_place - f.place) / 8;  // one behind the other
    if (last_place == f.place) {
      size = (last - f.at) / s.stride;
      return last >= f.at;
    }
    if (last_place < f.place || f.end < f.at || last < last_first) return false;
    size = ((f.end - f.at) + (blocks - 1) * (f.end - first) + (last - last_first)) / s.stride;
    return true;
  }

  bool find_indexed(const Step& s, Frame& f, uint64_t object, uint64_t& size) const {
    uint64_t map, index, block;
    if (!load(map, object + s.a) || !load(index, object + s.b) || !load(size, object + s.c)) return false;
    if (size == 0) return true;
    f.place = map + index / s.count * 8;
    if (!load(block, f.place)) return false;
    f.at = block + index % s.count * s.stride;
    f.end = block + uint64_t{s.count} * s.stride;
    return true;
  }

  enum class Found : uint8_t { kOne, kEnd, kBad, kTooFar };

  // Tells whether f.at is an element.
  Found check(const Step& s, Frame& f) {
    if (s.where != Where::kTree && s.where != Where::kChain) return Found::kOne;
    return f.at == f.end || f.at == 0 ? Found::kEnd : Found::kOne;
  }

  Found advance(const Step& s, Frame& f) {
    switch (s.where) {
      case Where::kTree:
        return successor(s, f);
      case Where::kChain:
        if (!take_hop()) return Found::kTooFar;
        if (!load(f.at, f.at + s.next_offset)) return Found::kBad;
        return check(s, f);
      case Where::kBlocks:
      case Where::kIndexed:
        return next_in_blocks(s, f);
      default:
        f.at += s.stride;
        return Found::kOne;
    }
  }

  Found next_in_blocks(const Step& s, Frame& f) {
    const uint64_t old_end = f.end;
    f.at += s.stride;
    if (f.at != old_end) return Found::kOne;
    uint64_t block, first;
    f.place += 8;
    if (!load(block, f.place - 8) || !load(first, f.place)) return Found::kBad;
    f.end = first + (old_end - block);
    f.at = first;
    return Found::kOne;
  }

  bool take_hop() { return hops_ != 0 && hops_-- != 0; }

  // The next node in order; trees that were overwritten may lead anywhere, but not for ever.
  [[gnu::always_inline]] inline Found successor(const Step& s, Frame& f) {
    uint64_t at = f.at, link;
    if (!load(link, at + s.right_offset)) return Found::kBad;
    if (link != 0) {
      while (link != 0) {
        at = link;
        if (!take_hop()) return Found::kTooFar;
        if (!load(link, at + s.left_offset)) return Found::kBad;
      }
      f.at = at;
      return check(s, f);
    }
    for (;;) {
      if (!take_hop()) return Found::kTooFar;
      if (!load(link, at + s.parent_offset)) return Found::kBad;
      if (link == f.end || link == 0) return Found::kEnd;
      uint64_t left;
      if (!load(left, link + s.left_offset)) return Found::kBad;
      const bool was_left = left == at;
      at = link;
      if (was_left) break;
    }
    f.at = at;
    return Found::kOne;
  }

  // Its state is set already; only what goes wrong changes it.
  [[gnu::noinline]] void next_element(Frame& f) {
    const Step& s = steps_[f.step];
    const auto state = static_cast<State>(*head(f));
    if (f.left == 0) return close(f, state);
    const Found found = f.shown == 0 ? check(s, f) : advance(s, f);
    // One whose size nobody knows ends here; else less is there than was said.
    if (found == Found::kEnd) return end_early(s, f);
    if (found == Found::kBad) return close(f, State::kBad);
    if (found == Found::kTooFar || room(f.reserve) < s.least) return close(f, State::kCut);
    const uint64_t value = f.at + s.value_offset;
    if (s.block_size != 0 && !reader_.read(out_, value + s.block_offset, s.block_size))
      return close(f, State::kBad);
    out_ += s.block_size;
    --f.left;
    ++f.shown;
    f.part = static_cast<uint16_t>(f.step + 1);
  }

  void end_early(const Step& s, Frame& f) {
    if (s.b != kNoSize) return close(f, State::kCut);
    put(head(f) + 1, uint64_t{f.shown});
    close(f, State::kWhole);
  }

  [[gnu::noinline]] void next_part(Frame& f) {
    const uint16_t part = f.part;
    const Step& p = steps_[part];
    f.part = p.next;
    const uint64_t object = f.at + steps_[f.step].value_offset + p.offset;
    const uint32_t reserve = f.reserve + p.after;
    if (p.is_text) return text(p, object, reserve);
    open(part, object, reserve);
  }

  // Finds the bytes of the text; `length` is an upper bound.
  bool find_text(const Step& s, uint64_t object, uint64_t& at, uint64_t& length) const {
    length = UINT64_MAX;
    if (s.where == Where::kShort) {
      uint8_t flag;
      if (!reader_.read(&flag, object, 1)) return false;
      if ((flag & 1) == 0) {
        at = object + s.c;
        length = flag >> 1;
        return true;
      }
    }
    if (!load(at, object + s.a)) return false;
    if (s.where == Where::kCString || (s.where == Where::kShared && at == 0)) return true;
    return load(length, s.where == Where::kShared ? at - 24 : object + s.b);
  }

  [[gnu::noinline]] void text(const Step& s, uint64_t object, uint32_t reserve) {
    uint64_t at = 0, length;
    uint8_t* const head = out_;
    out_ += kTextHead;
    State state = State::kBad;
    uint32_t done = 0;
    if (find_text(s, object, at, length)) {
      const auto most = static_cast<uint32_t>(least(s.limit, room(reserve)));
      state = copy_text(s, at, length, most, done);
    }
    put(head, static_cast<uint8_t>(state));
    put(head + 1, static_cast<uint16_t>(done));
    out_ += done;
  }

  // A piece at a time: what lies in front of a page that is not there can be read.
  State copy_text(const Step& s, uint64_t at, uint64_t length, uint32_t most, uint32_t& done) const {
    constexpr uint32_t kPiece = 64, kPage = 4096;
    if (length == 0) return State::kWhole;
    if (at == 0) return State::kNull;
    const auto wanted = static_cast<uint32_t>(least(length, most));
    while (done < wanted) {
      const uint64_t from = at + done;
      auto piece = static_cast<uint32_t>(least(wanted - done, kPage - from % kPage));
      piece = static_cast<uint32_t>(least(piece, kPiece));
      if (!reader_.read(out_ + done, from, piece)) return done == 0 ? State::kBad : State::kCut;
      for (uint32_t i = 0; s.where == Where::kCString && i < piece; ++i) {
        if (out_[done + i] != 0) continue;
        done += i;
        return State::kWhole;
      }
      done += piece;
    }
    if (wanted == length) return State::kWhole;
    uint8_t last = 1;  // the end of a C string may be just behind
    if (s.where == Where::kCString && reader_.read(&last, at + done, 1) && last == 0) return State::kWhole;
    return State::kCut;
  }

  const Step* steps_;
  const Reader& reader_;
  uint8_t* const begin_;
  uint8_t* out_;
  uint8_t* const end_;
  uint64_t given_ = 0;
  uint32_t hops_;
  uint32_t level_ = 0;
  Frame frames_[kMostLevels];
};

}  // namespace blip::collect
