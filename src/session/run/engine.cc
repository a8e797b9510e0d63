// SPDX-License-Identifier: MIT
#include "session/run/engine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "abi/layout.h"

namespace blip::session {

namespace {

using script::HitContext;
using Kind = script::WantedProbe::Kind;
using Next = script::ScriptOutput::Next;

}  // namespace

// Hands on what handlers print, and keeps for the engine that they want to end.
class Engine::ExitSink final : public script::Sink {
 public:
  explicit ExitSink(Engine& engine) : engine_(engine) {}

  void emit(uint32_t format, std::span<const script::Argument> arguments) override {
    engine_.has_printed_ = true;
    engine_.output_->emit(format, arguments);
  }
  std::string sprint(uint32_t format, std::span<const script::Argument> arguments) override {
    return engine_.output_->sprint(format, arguments);
  }
  void print(uint32_t map, const state::Key* key) override {
    engine_.has_printed_ = true;
    engine_.output_->print(map, key);
  }
  void exit(uint64_t code) override {
    engine_.is_over_ = true;
    engine_.exit_code_ = code;
    engine_.output_->exit(code);
  }

 private:
  Engine& engine_;
};

Engine::Engine(Handlers& handlers, script::World& world, script::Writer& writer)
    : handlers_(handlers),
      world_(world),
      output_(handlers.script().output({world, writer, handlers.program(), handlers.maps()})),
      sink_(std::make_unique<ExitSink>(*this)) {}

Engine::~Engine() = default;

// Made anew when there are more handlers; globals stay.
script::Interpreter& Engine::interpreter() {
  const size_t functions = handlers_.program().functions.size();
  if (!interpreter_ || interpreted_ != functions) {
    interpreter_.emplace(handlers_.program(), handlers_.maps(), *sink_, handlers_.script().limits(), &world_);
    interpreted_ = functions;
  }
  return *interpreter_;
}

void Engine::begin(uint64_t now_ns) {
  run_all(Kind::kBegin, now_ns);
  const auto& probes = handlers_.script().probes();
  const auto may_still_run = [](const script::WantedProbe& p) {
    return p.kind != Kind::kBegin && p.kind != Kind::kEnd && p.kind != Kind::kError && p.kind != Kind::kNever;
  };
  if (handlers_.script().ends_after_begin() && std::none_of(probes.begin(), probes.end(), may_still_run))
    is_over_ = true;
  for (size_t i = 0; i < probes.size(); ++i)
    if (probes[i].kind == Kind::kTimer) timers_.add(i, probes[i].period);
  timers_.start(now_ns);
}

void Engine::add_classes(const std::vector<ctf::EventClass>& all) {
  decoders_.resize(all.size() + abi::kFirstClass);
  for (const ctf::EventClass& c : all)
    if (!decoders_[c.id] && !c.of_blip && !c.tells_lives) decoders_[c.id] = std::make_unique<HitDecoder>(c);
}

// None above a limit: each is kept to the end.
uint64_t Engine::number_of_stack(int32_t pid, std::span<const uint64_t> frames) {
  constexpr size_t kMostStacks = 1 << 18;
  if (stacks_.size() >= kMostStacks) {
    const auto known = stack_numbers_.find({pid, {frames.begin(), frames.end()}});
    totals_.stackless += known == stack_numbers_.end();
    return known == stack_numbers_.end() ? 0 : known->second;
  }
  const auto [known, is_new] =
      stack_numbers_.try_emplace({pid, {frames.begin(), frames.end()}}, stacks_.size() + 1);
  if (is_new) stacks_.push_back(&known->first);
  return known->second;
}

const Engine::Stack* Engine::stack(uint64_t number) const {
  return number == 0 || number > stacks_.size() ? nullptr : stacks_[number - 1];
}

std::optional<uint64_t> Engine::next_due() const {
  const auto next = is_over_ ? std::nullopt : timers_.next();
  return next ? std::optional(next->time_ns) : std::nullopt;
}

bool Engine::is_full() {
  if (!has_printed_ || !is_full_) return false;
  if (is_full_()) return true;
  has_printed_ = false;
  return false;
}

// A timer that is due at T sees exactly what happened before T.
void Engine::run_until(uint64_t until_ns) {
  is_held_up_ = false;
  while (!is_over_) {
    const auto timer = timers_.next();
    const bool has_hit = !queue_.empty() && queue_.oldest_ns() < until_ns;
    const bool has_timer = timer && timer->time_ns <= until_ns;
    if (!has_hit && !has_timer) return;
    if (is_full()) {
      is_held_up_ = true;
      return;
    }
    if (has_hit && (!has_timer || queue_.oldest_ns() < timer->time_ns)) {
      run_hit();
      continue;
    }
    const uint64_t site = *handlers_.site_of(timer->which);
    run_site(site, own_context(site, timer->time_ns));
    timers_.pass(until_ns);
  }
  while (!queue_.empty()) {
    ++totals_.not_run;
    queue_.drop_oldest();
  }
}

namespace {

constexpr uint16_t kOwnClass = 0;  // of no record in a ring

struct OwnRecord {
  uint64_t site;
  uint32_t tid, cpu;
};

}  // namespace

void Engine::add_life(const Life& life) {
  const auto& probes = handlers_.script().probes();
  if (!own_ring_) own_ring_ = queue_.open_ring();
  for (size_t i = 0; i < probes.size(); ++i) {
    const bool is_meant = probes[i].number == 0 || probes[i].number == life.pid;
    if (probes[i].kind == life.kind && is_meant)
      add_own(*own_ring_, {.probe = i, .time_ns = life.time_ns, .pid = life.pid, .tid = life.tid});
  }
}

void Engine::add_own(HitQueue::Ring ring, const OwnHit& hit) {
  const OwnRecord record{*handlers_.site_of(hit.probe), static_cast<uint32_t>(hit.tid), hit.cpu};
  queue_.add(ring,
             {.time_ns = hit.time_ns,
              .stack = hit.stack,
              .size = sizeof record,
              .pid = hit.pid,
              .class_id = kOwnClass},
             reinterpret_cast<const uint8_t*>(&record));
}

void Engine::run_own(const QueuedHit& hit) {
  OwnRecord record;
  std::memcpy(&record, queue_.oldest_record().data(), sizeof record);
  const script::UserIds& ids = ids_of(hit.pid);
  run_site(record.site, {.clock = hit.time_ns,
                         .probe = record.site,
                         .pid = static_cast<uint32_t>(hit.pid),
                         .tid = record.tid,
                         .cpu = record.cpu,
                         .uid = ids.uid,
                         .gid = ids.gid,
                         .captured = {},
                         .machine = nullptr,
                         .stack = hit.stack != 0 ? std::optional(hit.stack) : std::nullopt});
  queue_.drop_oldest();
}

void Engine::run_hit() {
  const QueuedHit hit = queue_.oldest();
  if (hit.class_id == kOwnClass) return run_own(hit);
  HitDecoder* decoder = hit.class_id < decoders_.size() ? decoders_[hit.class_id].get() : nullptr;
  DecodedHit decoded;
  const bool is_fine = decoder && decoder->decode(queue_.oldest_record(), decoded) &&
                       decoded.probe < handlers_.sites().size() &&
                       handlers_.takes(decoded.probe, decoded.captured.size());
  if (!is_fine) {
    ++totals_.malformed;
    return queue_.drop_oldest();
  }
  const script::UserIds& ids = ids_of(hit.pid);
  totals_.late += hit.time_ns < now_ns_;
  ++totals_.hits;
  run_site(decoded.probe, {.clock = hit.time_ns,
                           .probe = decoded.probe,
                           .pid = static_cast<uint32_t>(hit.pid),
                           .tid = decoded.tid,
                           .cpu = decoded.cpu,
                           .uid = ids.uid,
                           .gid = ids.gid,
                           .captured = decoded.captured,
                           .stack = hit.stack != 0 ? std::optional(hit.stack) : std::nullopt});
  queue_.drop_oldest();
}

const script::UserIds& Engine::ids_of(int32_t pid) {
  if (last_ids_.first != pid) last_ids_ = {pid, world_.user_ids(static_cast<uint32_t>(pid))};
  return last_ids_.second;
}

// Of handlers that blip itself makes happen.
HitContext Engine::own_context(uint64_t number, uint64_t now_ns) const {
  const int cpu = ::sched_getcpu();
  return {.clock = now_ns,
          .probe = number,
          .pid = static_cast<uint64_t>(::getpid()),
          .tid = static_cast<uint64_t>(::gettid()),
          .cpu = cpu < 0 ? 0 : static_cast<uint64_t>(cpu),
          .uid = ::getuid(),
          .gid = ::getgid()};
}

void Engine::run_site(uint64_t number, const HitContext& context) {
  now_ns_ = std::max(now_ns_, context.clock);
  const HandlerSite& site = handlers_.sites()[number];
  const script::Outcome outcome = interpreter().run(site.function, context);
  if (outcome.failure != script::Failure::kNothing || outcome.defaults != 0) [[unlikely]]
    settle(site.fired.wanted, outcome, context.clock);
}

void Engine::settle(size_t probe, const script::Outcome& outcome, uint64_t clock) {
  const bool has_failed = outcome.failure != script::Failure::kNothing;
  totals_.failed += has_failed;
  has_printed_ = true;
  if (output_->told(probe, outcome, clock) != Next::kEnd) return;
  is_over_ = true;
  has_failed_ = true;
}

// In the order in which the script has them; the first that ends the script is the last.
void Engine::run_all(Kind kind, uint64_t now_ns) {
  const auto& probes = handlers_.script().probes();
  const bool is_last = kind == Kind::kEnd || kind == Kind::kError;
  for (size_t i = 0; i < probes.size() && (!is_over_ || is_last); ++i) {
    if (probes[i].kind != kind) continue;
    const uint64_t site = *handlers_.site_of(i);
    run_site(site, own_context(site, now_ns));
  }
}

void Engine::run_signal(int number, uint64_t now_ns) {
  const auto& probes = handlers_.script().probes();
  for (size_t i = 0; i < probes.size() && !is_over_; ++i) {
    if (probes[i].kind != Kind::kSignal || probes[i].number != number) continue;
    const uint64_t site = *handlers_.site_of(i);
    run_site(site, own_context(site, now_ns));
  }
}

void Engine::end(uint64_t now_ns) {
  if (std::exchange(has_ended_, true)) return;
  is_full_ = {};
  run_until(now_ns);
  // Records are younger than that only if the target's clock runs ahead: they have happened all the same.
  while (!is_over_ && !queue_.empty()) run_hit();
  run_until(now_ns);
  run_all(has_failed_ ? Kind::kError : Kind::kEnd, now_ns);
  output_->end();
}

EngineTotals Engine::totals() const { return totals_; }

int Engine::exit_code() const { return output_->exit_code(exit_code_); }

}  // namespace blip::session
