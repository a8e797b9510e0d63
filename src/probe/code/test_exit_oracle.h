// SPDX-License-Identifier: MIT
// Runs a program one instruction at a time and checks what was found about exits against what happens:
// whoever enters a function leaves it by one exit, once, with the stack as it was.
#pragma once

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "probe/code/exits.h"
#include "probe/code/functions.h"
#include "proc/files/maps.h"
#include "x86/decode.h"

namespace blip::probe {

class ExitOracle {
 public:
  uint64_t steps = 0, entered = 0, returned = 0, tail_jumped = 0;
  std::vector<std::string> violations;

  // argv[0] is a path. Stops after so many instructions.
  void run(const std::vector<std::string>& argv, const std::string& input, uint64_t most_steps) {
    pid_ = ::fork();
    if (pid_ == 0) start(argv, input);
    int status = 0;
    while (::waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status) && steps < most_steps &&
           violations.size() < 20) {
      user_regs_struct regs;
      if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &regs) != 0) break;
      look(regs.rip, regs.rsp);
      const int signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
      ::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, signal);
      ++steps;
    }
    if (!WIFEXITED(status)) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
    }
  }

 private:
  struct ExitRef {
    uint32_t function;
    bool conditional, is_tail;
    uint64_t next;  // the address behind a conditional jump
  };
  struct Known {
    AddrRange text;
    std::vector<int32_t> holder;  // per byte: the function in whose range it is, or -1
    std::unordered_map<uint64_t, uint32_t> entries;
    std::unordered_map<uint64_t, std::vector<ExitRef>> exits;
  };
  struct Activation {
    uint32_t function;
    uint64_t slot;
  };

  [[noreturn]] static void start(const std::vector<std::string>& argv, const std::string& input) {
    const int in = ::open(input.c_str(), O_RDONLY), out = ::open("/dev/null", O_WRONLY);
    ::dup2(in, 0);
    ::dup2(out, 1);
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execv(words[0], words.data());
    ::_exit(127);
  }

  void look(uint64_t rip, uint64_t rsp) {
    finish_conditional(rip);
    if (rip == last_rip_) return;  // a repeated string instruction
    last_rip_ = rip;
    while (!open_.empty() && open_.back().slot < rsp) {
      complain("was left by no exit", open_.back().function, rip);
      open_.pop_back();
    }
    std::erase_if(left_by_jump_, [&](const Activation& a) { return a.slot < rsp; });
    Known* known = known_at(rip);
    if (!known) return;
    const auto entry = known->entries.find(rip);
    if (entry != known->entries.end()) enter(entry->second, rsp, rip);
    const auto exits = known->exits.find(rip);
    if (entry == known->entries.end()) check_running(known->holder[rip - known->text.begin.value], rsp, rip);
    if (exits != known->exits.end()) leave(exits->second, rsp);
    previous_rip_ = rip;
  }

  void enter(uint32_t function, uint64_t rsp, uint64_t rip) {
    if (is_open(function, rsp)) complain("is entered again without having been left", function, rip);
    open_.push_back({function, rsp});
    ++entered;
  }

  void leave(const std::vector<ExitRef>& exits, uint64_t rsp) {
    for (const ExitRef& exit : exits) {
      if (!is_open(exit.function, rsp)) continue;
      if (exit.conditional)
        pending_.push_back({exit, rsp});
      else
        close(exit, rsp);
    }
  }

  void finish_conditional(uint64_t rip) {
    for (const auto& [exit, slot] : pending_)
      if (rip != exit.next) close(exit, slot);
    pending_.clear();
  }

  void close(const ExitRef& exit, uint64_t slot) {
    std::erase_if(open_, [&](const Activation& a) { return a.function == exit.function && a.slot == slot; });
    ++(exit.is_tail ? tail_jumped : returned);
    if (exit.is_tail) left_by_jump_.push_back({exit.function, slot});
  }

  // What was taken for a tail call must not come back.
  void check_running(int32_t holder, uint64_t rsp, uint64_t rip) {
    if (holder < 0) return;
    const auto function = static_cast<uint32_t>(holder);
    const auto is_it = [&](const Activation& a) { return a.function == function && a.slot >= rsp; };
    if (std::none_of(left_by_jump_.begin(), left_by_jump_.end(), is_it)) return;
    if (std::any_of(open_.begin(), open_.end(), is_it)) return;
    complain("runs on after it was left", function, rip);
    std::erase_if(left_by_jump_, is_it);
  }

  bool is_open(uint32_t function, uint64_t slot) const {
    return std::any_of(open_.begin(), open_.end(),
                       [&](const Activation& a) { return a.function == function && a.slot == slot; });
  }

  void complain(const char* what, uint32_t function, uint64_t rip) {
    violations.push_back(fmt::format("{} {}: now at {:#x}, before at {} {:#x}", names_[function], what, rip,
                                     place(previous_rip_), previous_rip_));
  }

  std::string place(uint64_t rip) {
    Known* known = known_at(rip);
    const int32_t holder = known ? known->holder[rip - known->text.begin.value] : -1;
    return holder < 0 ? "?" : names_[static_cast<size_t>(holder)];
  }

  Known* known_at(uint64_t rip) {
    const TargetAddr at(rip);
    if (last_ && last_->text.contains(at)) return last_;
    for (const auto& known : modules_)
      if (known->text.contains(at)) return last_ = known.get();
    for (const AddrRange& range : foreign_)
      if (range.contains(at)) return nullptr;
    const auto maps = proc::read_maps(pid_);
    const proc::Map* map = maps ? proc::find_map(*maps, at) : nullptr;
    if (!map) return nullptr;
    if (auto module = Module::of_file(map->path)) {
      if (const auto file_address = module->file().address_of(FileOffset(map->offset)))
        return learn(module->moved_to(map->range.begin.value - file_address->value), map->range);
    }
    foreign_.push_back(map->range);
    return nullptr;
  }

  Known* learn(const Module& module, AddrRange text) {
    auto known = std::make_unique<Known>();
    known->text = text;
    known->holder.assign(text.size(), -1);
    ExitFinder finder(module);
    const auto functions = all_functions(module).value();
    for (const elf::Function& f : functions)
      if (!f.is_cold && !finder.is_no_function(f)) add(module, f, finder, *known);
    modules_.push_back(std::move(known));
    return last_ = modules_.back().get();
  }

  void add(const Module& module, const elf::Function& f, ExitFinder& finder, Known& known) {
    const FunctionExits exits = finder.exits_of(f);
    if (!exits.complete() || exits.never_returns()) return;
    const auto id = static_cast<uint32_t>(names_.size());
    names_.push_back(module.basename() + ":" + display_name(module, f));
    const auto bytes = module.file().bytes(f.range());
    const auto first = x86::decode(bytes, module.to_target(f.addr));
    if (!first) return;
    known.entries[first->is_endbr64 ? first->end().value : first->addr.value] = id;
    for (uint64_t i = 0; i < f.size; ++i) {
      const TargetAddr a = module.to_target(f.addr + i);
      if (known.text.contains(a)) known.holder[a - known.text.begin] = static_cast<int32_t>(id);
    }
    for (const Exit& exit : exits.exits) {
      const TargetAddr at = module.to_target(exit.at);
      const auto insn = x86::decode(module.file().bytes_from(exit.at), at);
      known.exits[at.value].push_back(
          {id, exit.conditional, exit.kind == ExitKind::kTailJump, insn ? insn->end().value : 0});
    }
  }

  pid_t pid_ = 0;
  std::vector<std::unique_ptr<Known>> modules_;
  Known* last_ = nullptr;
  std::vector<AddrRange> foreign_;
  std::vector<std::string> names_;
  std::vector<Activation> open_, left_by_jump_;
  std::vector<std::pair<ExitRef, uint64_t>> pending_;
  uint64_t last_rip_ = 0, previous_rip_ = 0;
};

}  // namespace blip::probe
