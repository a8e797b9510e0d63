// SPDX-License-Identifier: MIT
#include "session/lifecycle.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "abi/layout.h"
#include "ctf/clock.h"
#include "ctf/known_fields.h"
#include "jit/stubs.h"
#include "proc/files/executable_path.h"
#include "proc/files/status.h"
#include "proc/files/thread_names.h"
#include "session/plan/contexts.h"

namespace blip::session {

namespace {

using Type = ctf::FieldType;

struct KindFact {
  const char* name;
  std::vector<ctf::Field> payload;
};

// In the order of LifeEvent::Kind. All events also have vpid and vtid.
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

// By which pads tell of lives, in the order of LifeRecord::Kind. No event of the trace is of these.
constexpr const char* kRecordNames[] = {"blip:thread", "blip:process", "blip:exit", "blip:exit_group",
                                        "blip:exec"};
static_assert(std::size(kRecordNames) == LifeRecord::kKinds);

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

void store(const LifeEvent& e, const ctf::Field& field, uint8_t* to) {
  const auto number = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  if (field.name == ctf::kPidField) return number(e.vpid);
  if (field.name == ctf::kTidField) return number(e.vtid);
  if (field.name == "parent") return number(e.parent);
  if (field.name == "status") return number(e.status);
  if (field.name == "signal") return number(e.signal);
  if (field.name == "address") return number(e.address);
  if (field.name == "size") return number(e.size);
  store_text(field.name == "comm" ? e.comm : e.path, to, ctf::field_size(field.type));
}

bool has_its_first_program(pid_t pid) {
  const auto stat = proc::read_stat(pid, pid);
  return stat && stat->forked_without_exec();
}

pid_t parent_of(pid_t pid) {
  const auto stat = proc::read_stat(pid, pid);
  return stat ? stat->ppid : 0;
}

}  // namespace

Lifecycle::Lifecycle(ClassTable& classes, bool follows)
    : classes_(classes),
      lives_({proc::read_comm, proc::executable_path, has_its_first_program, parent_of}, follows,
             ctf::HostClocks::monotonic_ns()) {
  const ctf::Field thread = context_field(contexts::kTid);
  for (const KindFact& kind : kinds()) ids_.push_back(classes.add_own({kind.name, thread, kind.payload}));
  records_.first_class = static_cast<uint16_t>(abi::kFirstClass + classes.classes().size());
  for (const char* name : kRecordNames) classes.add_life_record(name);
}

Status Lifecycle::write_to(const TraceOutput& output) {
  const ctf::StreamInfo info{output.first_stream, ctf::kNoCpu, std::nullopt};
  TRY(ctf::StreamWriter writer,
      ctf::StreamWriter::create(output.dir.dir_fd(), output.prefix + "lifecycle", output.uuid, info));
  stream_ = std::make_unique<ctf::StreamWriter>(std::move(writer));
  return {};
}

void Lifecycle::begin(ProcessId process, bool has_pads) {
  if (has_pads) roots_[process.pid] = process.vpid;
  const auto [watch, is_new] = watches_.try_emplace(process.pid, process);
  LifeLook::Begun begun{process, has_pads, is_new ? watch->second.look() : ProcessChanges()};
  if (has_looked_)
    begun_.push_back(std::move(begun));
  else
    lives_.begin(begun);
}

std::vector<pid_t> Lifecycle::take_records() {
  std::vector<pid_t> born;
  for (const LifeRecord& record : records_.heard) {
    lives_.hear(record);
    const auto root = roots_.find(record.root);
    if (record.kind != LifeRecord::kProcess || root == roots_.end() || root->first != root->second) continue;
    const pid_t child = record.value == jit::kSharesMemory ? record.vtid : record.vpid;
    if (child != 0) born.push_back(child);
  }
  records_.heard.clear();
  return born;
}

void Lifecycle::look(const FamilyNews& news, std::vector<LifeLook::Heard> heard_of, std::vector<pid_t> lost) {
  LifeLook look{.begin_ns = ctf::HostClocks::monotonic_ns(),
                .news = news,
                .begun = std::exchange(begun_, {}),
                .heard_of = std::move(heard_of),
                .lost = std::move(lost)};
  std::map<pid_t, ProcessWatch> watches;
  for (const ProcessId& id : lives_.known()) {
    auto node = watches_.extract(id.pid);
    const auto watch =
        node.empty() ? watches.try_emplace(id.pid, id).first : watches.insert(std::move(node)).position;
    look.changes.push_back({id.pid, watch->second.look()});
  }
  for (const LifeLook::Begun& begun : look.begun)  // not known yet
    if (auto node = watches_.extract(begun.process.pid); !node.empty()) watches.insert(std::move(node));
  watches_ = std::move(watches);
  has_looked_ = true;
  look.time_ns = ctf::HostClocks::monotonic_ns();
  lives_.see(std::move(look));
}

void Lifecycle::settle(uint64_t until_ns) {
  put(lives_.settle(until_ns));
  if (live_) live_->complete(lives_.complete_until());
}

void Lifecycle::finish() {
  put(lives_.finish());
  live_.reset();
}

void Lifecycle::put(const std::vector<LifeEvent>& events) {
  for (const LifeEvent& event : events) {
    if (told_) told_(event);
    const uint16_t id = ids_[event.kind];
    const ctf::EventClass& c = classes_.classes()[id - abi::kFirstClass];
    std::vector<uint8_t> record(c.record_size);  // with the header's place
    for (const ctf::Field& field : c.fields) store(event, field, &record[field.offset]);
    if (live_) live_->add(event.time_ns, id, record.data(), static_cast<uint32_t>(record.size()));
    if (stream_) stream_->append(event.time_ns, id, record.data() + abi::kHeaderSize, ctf::fields_size(c));
    ++events_;
  }
}

}  // namespace blip::session
