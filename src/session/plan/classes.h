// SPDX-License-Identifier: MIT
// From what the user asked for to record layouts and actions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "ctf/schema.h"
#include "jit/program/action.h"
#include "session/plan/hit_data.h"
#include "session/plan/options.h"

namespace blip::session {

// Up to here each function or instruction has a class of its own; readers take seconds to open tens of
// thousands.
inline constexpr size_t kMaxOwnClasses = 4096;

// A probed place of one process, as the class table needs to know it.
struct ProbedPlace {
  std::string name;         // of the event
  std::string module;       // basename of its file
  FileAddr addr;            // in that file
  size_t request = 0;       // index into Options::probes
  uint64_t ip = 0;          // where it is in the process
  HitData data{};           // that its events show
  bool is_inlined = false;  // a copy of a function: all of one name have one class
  bool is_entry = false;    // the first instruction of a function
};

// The class of events that blip writes itself: vpid and another context, then the payload.
struct OwnClass {
  const char* name;
  ctf::Field context;
  std::vector<ctf::Field> payload;
  bool tells_files = false;
};

// The event classes of a trace. The same function in several processes has one class, so that a trace of a
// hundred workers reads like one of a single process.
class ClassTable {
 public:
  explicit ClassTable(const Options& options) : options_(options) {}

  // Actions for the places of one more process; classes that are new are added. Where stores_tid() says so
  // every class carries the tid; unless counting, every class leads with the pid if children are followed,
  // several processes traced, or the user asks for it. All places of a source line have one class, and so
  // have the copies of an inlined function in another, and those of a mark in a file. Unless counting, the places of one request share a
  // class that carries the ip if it asks for every instruction, or if there are more than kMaxOwnClasses: of
  // these places, or in the trace where classes come later. Fails where an event would be too large, or where
  // not all ids are below `end_id`; nothing is added then.
  Result<std::vector<jit::Action>> add(std::span<const ProbedPlace> places, uint32_t end_id = UINT32_MAX);

  // The largest record in a ring that a place of these requests may need.
  uint32_t largest_record(const std::vector<bool>& requests) const;

  // One that blip writes itself; laid out here. Returns its id.
  uint16_t add_own(const OwnClass& own);

  // Adds a class of records that pads write for blip itself (life_record.h, jit/stubs.h), in the same way.
  uint16_t add_life_record(const char* name);

  // classes()[i].id == i + abi::kFirstClass, which is cut where actions only count.
  const std::vector<ctf::EventClass>& classes() const { return classes_; }
  // Who made classes()[index].
  const std::string& module_of(size_t index) const { return origins_[index].module; }
  size_t request_of(size_t index) const { return origins_[index].request; }
  // In its file; none: it has several places.
  std::optional<uint64_t> address_of(size_t index) const { return origins_[index].address; }

 private:
  struct Origin {
    std::string module;
    size_t request;
    std::optional<uint64_t> address{};  // in the file; none: many places share the class
  };
  // Name, module, address, request; what its data looks like, where places share it.
  using Key = std::tuple<std::string, std::string, uint64_t, size_t, std::string>;

  std::vector<bool> which_share(std::span<const ProbedPlace> places) const;
  Result<size_t> class_of(const ProbedPlace& place, bool shared);
  Result<std::vector<jit::Action>> try_add(std::span<const ProbedPlace> places,
                                           const std::vector<bool>& shared);
  void cut_back(size_t count);

  const Options& options_;
  std::vector<ctf::EventClass> classes_;
  std::vector<Origin> origins_;
  std::map<Key, size_t> index_;
};

}  // namespace blip::session
