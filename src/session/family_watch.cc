// SPDX-License-Identifier: MIT
#include "session/family_watch.h"

#include <utility>

namespace blip::session {

FamilyWatch::FamilyWatch(TraceContext& context, const Roster& roster, ExecutedPrograms& executed)
    : context_(context), roster_(roster), executed_(executed) {
  const Options& options = context.options;
  if (options.lifecycle || options.follow_exec) family_.emplace(options.follow_fork);
  if (!options.lifecycle) return;
  lifecycle_.emplace(context.classes, options.follow_fork);
  context.lives = &lifecycle_->records();
}

Status FamilyWatch::write_to(TraceFiles& files) {
  if (!lifecycle_) return {};
  TRY(const TraceOutput output, files.add_lives());
  return lifecycle_->write_to(output);
}

void FamilyWatch::show_to(LiveShow& show) {
  if (lifecycle_) lifecycle_->show_to(show.merge());
}

void FamilyWatch::tell(ScriptRun& script) {
  if (lifecycle_) lifecycle_->tell([&script](const LifeEvent& event) { script.add(event); });
}

void FamilyWatch::begin() {
  if (!family_) return;
  watch_all();
  look_now();
}

void FamilyWatch::watch_all() {
  for (const auto& process : roster_.live())
    if (process->is_unwatched()) watch(process->process(), process->tells_lives());
  for (const proc::Process& process : roster_.unarmed())
    if (!watched_.contains(process.pid())) watch(process, false);
}

void FamilyWatch::watch(const proc::Process& process, bool has_pads) {
  if (watched_.insert(process.pid()).second) family_->add(process.pid());
  if (lifecycle_) lifecycle_->begin({process.pid(), process.ns_pid()}, has_pads);
}

void FamilyWatch::add_wakers(std::vector<WakeUps::Waker>& wakers) const {
  if (!family_) return;
  for (const auto& [pid, fd] : family_->pidfds()) wakers.push_back({pid, fd});
}

bool FamilyWatch::may_come_later() const {
  if (!family_ || !(context_.options.follow_exec || context_.options.probes.empty())) return false;
  return !family_->empty() || (watched_.empty() && !roster_.empty());
}

// Who has just been born is looked at while he is there.
void FamilyWatch::hear_lives() {
  FamilyNews born;
  for (const pid_t pid : lifecycle_->take_records())
    if (context_.options.follow_fork && !family_->adopt(pid, born)) lost_.push_back(pid);
  news_.append(born);
  if (!context_.options.follow_exec) return;
  for (const ProcessId& id : born.executed) executed_.add(id.pid);
}

void FamilyWatch::settle(uint64_t heard_until_ns) {
  if (!lifecycle_) return;
  watch_all();
  hear_lives();
  lifecycle_->settle(heard_until_ns);
}

void FamilyWatch::hear_of_children(TracedProcess& process) {
  for (const int32_t vpid : process.events().take_heard_of()) {
    process.tell_child(vpid);
    if (lifecycle_) heard_of_.push_back({process.process().pid(), vpid});
  }
}

// Who calls exec or ends is seen at once; the events of --lifecycle come with the scans, since what began
// after one of them must not be told with a time before.
void FamilyWatch::look_now() {
  const bool scans = family_->scan_is_due();
  const FamilyNews now = family_->look();
  if (lifecycle_) {
    news_.append(now);
    for (const auto& process : roster_.live()) hear_of_children(*process);
    hear_lives();
    if (scans)
      lifecycle_->look(std::exchange(news_, {}), std::exchange(heard_of_, {}), std::exchange(lost_, {}));
  }
  if (!context_.options.follow_exec) return;
  for (const ProcessId& id : now.executed) executed_.add(id.pid);
  for (const FamilyNews::Death& death : now.died) executed_.forget(death.process.pid);
}

Status FamilyWatch::look() {
  if (!family_) return {};
  watch_all();
  look_now();
  return lifecycle_ ? lifecycle_->flush(false) : Status();
}

Status FamilyWatch::finish() {
  if (!lifecycle_) return {};
  family_->wait_for_leaving();
  hear_lives();
  family_->hurry();
  look_now();
  lifecycle_->finish();
  return lifecycle_->flush(true);
}

}  // namespace blip::session
