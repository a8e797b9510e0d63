// SPDX-License-Identifier: MIT
// The text around the edits is read once, changed here, and written back a page at a time: a page is copied
// at once, so no thread and no later blip sees half of it, should this one be killed. What lies in one page
// needs no order. An edit that needs one in another page is late (EditSet): it is written after all pages, by
// itself, and taken back before them.
#include "probe/inject/text.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/page.h"

namespace blip::probe {

namespace {

bool holds(const uint8_t* at, std::span<const uint8_t> bytes) {
  return std::memcmp(at, bytes.data(), bytes.size()) == 0;
}

// The text from the first edit of some neighbouring pages to the end of the last jump.
struct Run {
  TargetAddr begin;
  TargetAddr end{};
  size_t first = 0, last = 0;  // edits
  std::vector<uint8_t> bytes;  // first as they are there, then as they shall be
  bool mapped = true;
};

class TextWriter {
 public:
  TextWriter(proc::Memory& memory, const EditSet& set) : memory_(memory), set_(set), edits_(set.edits()) {}

  Result<TextReport> install(EditMask which) {
    read(which);
    TextReport report;
    for (;;) {
      const std::vector<size_t> foreign = apply(which, true);
      if (foreign.empty()) break;
      const EditMask dropped = set_.with_dependents(foreign);
      for (size_t i = 0; i < which.size(); ++i)
        if (which[i] && dropped[i] && !std::binary_search(foreign.begin(), foreign.end(), i))
          report.left.push_back(i);
      report.foreign.insert(report.foreign.end(), foreign.begin(), foreign.end());
      subtract(which, dropped);
    }
    for (const uint32_t i : set_.late_edits())
      if (which[i]) put_back(run_of(i), i);
    TRY_OK(write_pages(which));
    TRY_OK(write_late(set_.late_edits(), which, true));
    return report;
  }

  Result<TextReport> restore(EditMask which) {
    read(which);
    TextReport report;
    report.foreign = apply(which, false);
    if (!report.foreign.empty()) {
      const EditMask kept = set_.with_needs(report.foreign);
      for (size_t i = 0; i < which.size(); ++i)
        if (which[i] && kept[i] && !std::binary_search(report.foreign.begin(), report.foreign.end(), i))
          report.left.push_back(i);
      subtract(which, kept);
      apply(which, false);
    }
    std::vector<uint32_t> late(set_.late_edits().begin(), set_.late_edits().end());
    std::reverse(late.begin(), late.end());
    TRY_OK(write_late(late, which, false));
    TRY_OK(write_pages(which));
    return report;
  }

 private:
  static void subtract(EditMask& from, const EditMask& what) {
    for (size_t i = 0; i < from.size(); ++i)
      if (what[i]) from[i] = false;
  }

  void read(const EditMask& which) {
    for (size_t i = 0; i < edits_.size(); ++i) {
      if (!which[i]) continue;
      const bool next = !runs_.empty() &&
                        page_number(edits_[i].addr) <= page_number(edits_[runs_.back().last - 1].addr) + 1;
      if (!next) runs_.push_back({.begin = edits_[i].addr, .first = i});
      runs_.back().last = i + 1;
      runs_.back().end = std::max(runs_.back().end, edits_[i].addr + edits_[i].length);
    }
    std::vector<proc::ReadRequest> requests;
    for (Run& run : runs_) {
      run.bytes.resize(run.end - run.begin);
      requests.push_back({run.begin, run.bytes});
    }
    // If some page is gone (a library was unloaded): find out which.
    if (!memory_.read_all(requests))
      for (Run& run : runs_) run.mapped = memory_.read(run.begin, run.bytes).has_value();
    read_ = which;
    found_.resize(edits_.size());
    for (Run& run : runs_)
      for (size_t i = run.first; i < run.last; ++i)
        if (which[i]) std::memcpy(found_[i].data(), at(run, edits_[i].addr), edits_[i].size);
  }

  void put_back(Run& run, size_t i) {
    if (read_[i]) std::memcpy(at(run, edits_[i].addr), found_[i].data(), edits_[i].size);
  }

  // Changes the chosen bytes; those that are not as expected.
  std::vector<size_t> apply(const EditMask& which, bool install) {
    std::vector<size_t> foreign;
    for (Run& run : runs_) {
      for (size_t i = run.first; i < run.last; ++i) put_back(run, i);
      for (size_t i = run.first; i < run.last; ++i)
        if (which[i] && (!run.mapped || !apply_one(run, edits_[i], install))) foreign.push_back(i);
    }
    if (!install || !foreign.empty()) return foreign;
    for (Run& run : runs_) {
      for (size_t i = run.first; i < run.last; ++i)
        if (which[i] && !holds(at(run, edits_[i].end()), edits_[i].tail())) foreign.push_back(i);
    }
    return foreign;
  }

  static bool apply_one(Run& run, const Edit& edit, bool install) {
    const auto expected = install ? edit.original_bytes() : edit.changed_bytes();
    const auto wanted = install ? edit.changed_bytes() : edit.original_bytes();
    uint8_t* place = at(run, edit.addr);
    if (holds(place, wanted)) return true;
    if (!holds(place, expected) && (install || !half_undone(place, edit))) return false;
    std::memcpy(place, wanted.data(), wanted.size());
    return true;
  }

  // A breakpoint that was set before the jump came, or by somebody who knows only the file (a kernel uprobe),
  // has been taken away: it took the jump's first byte with it.
  static bool half_undone(const uint8_t* place, const Edit& edit) {
    return edit.size > 1 && place[0] == edit.original[0] && holds(place + 1, edit.changed_bytes().subspan(1));
  }

  static uint8_t* at(Run& run, TargetAddr a) { return run.bytes.data() + (a - run.begin); }

  // Everything that is not late, one write for each page that changes.
  Status write_pages(const EditMask& which) {
    for (Run& run : runs_) {
      for (size_t i = run.first; i < run.last;) {
        const uint64_t page = page_number(edits_[i].addr);
        TargetAddr begin, end;
        for (; i < run.last && page_number(edits_[i].addr) == page; ++i) {
          const Edit& edit = edits_[i];
          if (!which[i] || set_.late(i) || !changes(run, i)) continue;
          if (begin == TargetAddr()) begin = edit.addr;
          end = edit.end();
        }
        if (begin != TargetAddr()) TRY_OK(memory_.write(begin, {at(run, begin), end - begin}));
      }
    }
    return {};
  }

  Status write_late(std::span<const uint32_t> late, const EditMask& which, bool install) {
    for (uint32_t i : late) {
      if (!which[i]) continue;
      const Edit& edit = edits_[i];
      Run& run = run_of(i);
      uint8_t* const place = at(run, edit.addr);
      std::memcpy(place, (install ? edit.changed : edit.original).data(), edit.size);
      if (changes(run, i)) TRY_OK(memory_.write(edit.addr, {place, edit.size}));
    }
    return {};
  }

  // False: what is wanted is there already.
  bool changes(Run& run, size_t i) const {
    return std::memcmp(at(run, edits_[i].addr), found_[i].data(), edits_[i].size) != 0;
  }

  Run& run_of(size_t i) {
    auto it =
        std::upper_bound(runs_.begin(), runs_.end(), i, [](size_t n, const Run& r) { return n < r.first; });
    return *(it - 1);
  }

  proc::Memory& memory_;
  const EditSet& set_;
  std::span<const Edit> edits_;
  std::vector<Run> runs_;
  EditMask read_;
  std::vector<std::array<uint8_t, abi::kMaxEdit>> found_;  // by edit, of those that were read
};

// A large set in pieces of whole pages, first those without the late edits, then those; or the other way
// round.
class TextInPieces {
 public:
  TextInPieces(proc::Memory& memory, const EditSet& set, const EditMask& which, const TimeIsUp& time_is_up)
      : memory_(memory), set_(set), left_(which), time_is_up_(time_is_up) {}

  Result<TextReport> install() {
    relation_ = [&](const std::vector<size_t>& some) { return set_.with_dependents(some); };
    for (const std::vector<size_t>& piece : pages())
      TRY_OK(make(piece, [&](const EditMask& which) { return TextWriter(memory_, set_).install(which); }));
    const std::vector<size_t> late(set_.late_edits().begin(), set_.late_edits().end());
    TRY_OK(make(late, [&](const EditMask& which) { return TextWriter(memory_, set_).install(which); }));
    return std::move(report_);
  }

  Result<TextReport> restore() {
    relation_ = [&](const std::vector<size_t>& some) { return set_.with_needs(some); };
    const std::vector<size_t> late(set_.late_edits().begin(), set_.late_edits().end());
    TRY_OK(make(late, [&](const EditMask& which) { return TextWriter(memory_, set_).restore(which); }));
    for (const std::vector<size_t>& piece : pages())
      TRY_OK(make(piece, [&](const EditMask& which) { return TextWriter(memory_, set_).restore(which); }));
    return std::move(report_);
  }

 private:
  static constexpr size_t kEnough = 512;  // edits

  // Edits that are not late.
  std::vector<std::vector<size_t>> pages() const {
    std::vector<std::vector<size_t>> pieces;
    const std::span<const Edit> edits = set_.edits();
    for (size_t i = 0; i < edits.size(); ++i) {
      if (!left_[i] || set_.late(i)) continue;
      const bool same_page =
          !pieces.empty() && page_number(edits[pieces.back().back()].addr) == page_number(edits[i].addr);
      if (pieces.empty() || (pieces.back().size() >= kEnough && !same_page)) pieces.emplace_back();
      pieces.back().push_back(i);
    }
    return pieces;
  }

  // Whatever cannot be done because of what is found takes others with it, of this piece and of later ones.
  Status make(const std::vector<size_t>& piece,
              const std::function<Result<TextReport>(const EditMask&)>& work) {
    EditMask now(set_.size());
    bool any = false;
    for (const size_t i : piece) any |= now[i] = left_[i];
    if (!any) return {};
    if (time_is_up_()) is_up_ = true;
    for (const size_t i : piece)
      if (is_up_ && left_[i]) report_.undone.push_back(i);
    if (is_up_) return {};
    TRY(TextReport done, work(now));
    leave_related(done);
    report_.foreign.insert(report_.foreign.end(), done.foreign.begin(), done.foreign.end());
    report_.left.insert(report_.left.end(), done.left.begin(), done.left.end());
    return {};
  }

  void leave_related(TextReport& done) {
    if (done.foreign.empty()) return;
    EditMask related = relation_(done.foreign);
    for (const std::vector<size_t>* known : {&done.foreign, &done.left})
      for (const size_t i : *known) related[i] = false;
    for (size_t i = 0; i < left_.size(); ++i) {
      if (!related[i] || !left_[i]) continue;
      left_[i] = false;
      done.left.push_back(i);
    }
  }

  proc::Memory& memory_;
  const EditSet& set_;
  EditMask left_;
  const TimeIsUp& time_is_up_;
  std::function<EditMask(const std::vector<size_t>&)> relation_;
  bool is_up_ = false;
  TextReport report_;
};

}  // namespace

Result<TextReport> install_text(proc::Memory& memory, const EditSet& edits, const EditMask& which,
                                const TimeIsUp& time_is_up) {
  if (time_is_up) return TextInPieces(memory, edits, which, time_is_up).install();
  return TextWriter(memory, edits).install(which);
}

Result<TextReport> restore_text(proc::Memory& memory, const EditSet& edits, const EditMask& which,
                                const TimeIsUp& time_is_up) {
  if (time_is_up) return TextInPieces(memory, edits, which, time_is_up).restore();
  return TextWriter(memory, edits).restore(which);
}

}  // namespace blip::probe
