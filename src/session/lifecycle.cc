// SPDX-License-Identifier: MIT
#include "session/lifecycle.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "abi/layout.h"
#include "ctf/clock.h"
#include "proc/executable_path.h"
#include "proc/thread_names.h"

namespace blip::session {

namespace {

using Type = ctf::FieldType;

struct KindFact {
  const char* name;
  std::vector<ctf::Field> payload;
};

// In the order of Lifecycle::Kind. All events also have vpid and vtid.
const std::vector<KindFact>& kinds() {
  static const std::vector<KindFact> table = {
      {"process:begin", {{"comm", Type::kText16}, {"path", Type::kText256}}},
      {"process:fork", {{"parent", Type::kInt32}, {"comm", Type::kText16}, {"path", Type::kText256}}},
      {"process:exec", {{"comm", Type::kText16}, {"path", Type::kText256}}},
      {"process:end", {{"status", Type::kInt32}, {"signal", Type::kInt32}}},
      {"thread:begin", {{"comm", Type::kText16}}},
      {"thread:end", {{"comm", Type::kText16}}},
      {"library:load", {{"address", Type::kHex64}, {"size", Type::kUint64}, {"path", Type::kText256}}},
      {"library:unload", {{"address", Type::kHex64}, {"size", Type::kUint64}, {"path", Type::kText256}}},
  };
  return table;
}

constexpr int32_t kNotKnown = -1;

// NUL-padded; of a text that is too long, its end. Never empty: see FieldType::kText16.
void store_text(std::string_view text, uint8_t* to, size_t size) {
  constexpr std::string_view kCut = "...";
  if (text.empty()) text = "?";
  if (text.size() < size) {
    std::copy(text.begin(), text.end(), to);
    return;
  }
  to = std::copy(kCut.begin(), kCut.end(), to);
  text.remove_prefix(text.size() - (size - 1 - kCut.size()));
  std::copy(text.begin(), text.end(), to);
}

}  // namespace

// What an event may tell; its class says which of it.
struct Lifecycle::Facts {
  int32_t vtid = 0;
  int32_t parent = 0;
  int32_t status = kNotKnown;
  int32_t signal = kNotKnown;
  uint64_t address = 0;
  uint64_t size = 0;
  std::string comm;
  std::string path;

  void store(const ctf::Field& field, int32_t vpid, uint8_t* to) const {
    const auto number = [&](auto value) { std::memcpy(to, &value, sizeof value); };
    if (field.name == "vpid") return number(vpid);
    if (field.name == "vtid") return number(vtid);
    if (field.name == "parent") return number(parent);
    if (field.name == "status") return number(status);
    if (field.name == "signal") return number(signal);
    if (field.name == "address") return number(address);
    if (field.name == "size") return number(size);
    store_text(field.name == "comm" ? comm : path, to, ctf::field_size(field.type));
  }
};

Lifecycle::Lifecycle(ClassTable& classes, EventLimit& limit) : classes_(classes), limit_(limit) {
  const ctf::Field thread{.name = "vtid", .type = Type::kInt32, .is_context = true};
  for (const KindFact& kind : kinds()) ids_.push_back(classes.add_own({kind.name, thread, kind.payload}));
  last_look_ns_ = now_ns_ = ctf::HostClocks::monotonic_ns();
}

Status Lifecycle::write_to(const TraceOutput& output) {
  const ctf::StreamInfo info{output.first_stream, ctf::kNoCpu, std::nullopt};
  TRY(ctf::StreamWriter writer,
      ctf::StreamWriter::create(output.dir.dir_fd(), output.prefix + "lifecycle", output.uuid, info));
  stream_ = std::make_unique<ctf::StreamWriter>(std::move(writer));
  return {};
}

void Lifecycle::tell(Kind kind, ProcessId id, uint64_t time_ns, const Facts& facts) {
  const ctf::EventClass& c = classes_.classes()[ids_[kind] - abi::kFirstClass];
  Event event{time_ns, kind, std::vector<uint8_t>(c.record_size)};
  for (const ctf::Field& field : c.fields) facts.store(field, id.vpid, &event.record[field.offset]);
  pending_.push_back(std::move(event));
}

void Lifecycle::begin(ProcessId process) {
  if (processes_.contains(process.pid)) return;
  told_.insert(process.vpid);
  now_ns_ = last_look_ns_;
  Entry& entry = processes_.emplace(process.pid, Entry{process, ProcessWatch(process)}).first->second;
  tell(kProcessBegin, process, last_look_ns_,
       {.vtid = process.vpid,
        .comm = proc::read_comm(process.pid, process.pid),
        .path = proc::executable_path(process.pid)});
  look_at(entry);
  put_pending();
}

void Lifecycle::look_at(Entry& entry) {
  const ProcessChanges changes = entry.watch.look();
  const auto library = [&](Kind kind, const MappedLibrary& l, uint64_t time) {
    tell(kind, entry.id, time,
         {.vtid = entry.id.vpid, .address = l.addr.value, .size = l.size, .path = l.path});
  };
  for (const WatchedThread& t : changes.begun)
    tell(kThreadBegin, entry.id, last_look_ns_, {.vtid = t.vtid, .comm = t.name});
  for (const MappedLibrary& l : changes.loaded) library(kLoad, l, last_look_ns_);
  for (const MappedLibrary& l : changes.unloaded) library(kUnload, l, now_ns_);
  for (const WatchedThread& t : changes.ended)
    tell(kThreadEnd, entry.id, now_ns_, {.vtid = t.vtid, .comm = t.name});
}

void Lifecycle::look(const FamilyNews& news, const std::vector<int32_t>& heard_of) {
  now_ns_ = std::max(last_look_ns_, ctf::HostClocks::monotonic_ns());
  for (const FamilyNews::Birth& birth : news.born) {
    tell(kFork, birth.child, last_look_ns_,
         {.vtid = birth.child.vpid,
          .parent = birth.parent.vpid,
          .comm = proc::read_comm(birth.child.pid, birth.child.pid),
          .path = proc::executable_path(birth.child.pid)});
    processes_.emplace(birth.child.pid, Entry{birth.child, ProcessWatch(birth.child)});
    told_.insert(birth.child.vpid);
  }
  for (const ProcessId& id : news.executed)
    tell(kExec, id, now_ns_,
         {.vtid = id.vpid, .comm = proc::read_comm(id.pid, id.pid), .path = proc::executable_path(id.pid)});
  for (auto& [pid, entry] : processes_) look_at(entry);
  for (const FamilyNews::Death& death : news.died) {
    const auto known = processes_.find(death.process.pid);
    if (known == processes_.end()) continue;
    for (const WatchedThread& t : known->second.watch.threads())
      tell(kThreadEnd, death.process, now_ns_, {.vtid = t.vtid, .comm = t.name});
    processes_.erase(known);
    Facts facts{.vtid = death.process.vpid};
    if (death.status) {
      facts.signal = WIFSIGNALED(*death.status) ? WTERMSIG(*death.status) : 0;
      if (WIFEXITED(*death.status)) facts.status = WEXITSTATUS(*death.status);
    }
    tell(kProcessEnd, death.process, now_ns_, facts);
  }
  for (int32_t vpid : heard_of) {
    if (!told_.insert(vpid).second) continue;
    tell(kFork, {0, vpid}, last_look_ns_, {.vtid = vpid});
    tell(kProcessEnd, {0, vpid}, now_ns_, {.vtid = vpid});
  }
  put_pending();
  last_look_ns_ = now_ns_;
}

void Lifecycle::put_pending() {
  std::stable_sort(pending_.begin(), pending_.end(),
                   [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
  for (const Event& event : pending_) put(event);
  pending_.clear();
}

void Lifecycle::put(const Event& event) {
  const uint16_t id = ids_[event.kind];
  if (live_) live_->add(event.time_ns, id, event.record.data(), static_cast<uint32_t>(event.record.size()));
  if (!stream_ || limit_.reached()) return;
  const ctf::EventClass& c = classes_.classes()[id - abi::kFirstClass];
  stream_->append(event.time_ns, id, event.record.data() + abi::kHeaderSize, ctf::fields_size(c));
  ++events_;
  ++limit_.taken;
}

}  // namespace blip::session
