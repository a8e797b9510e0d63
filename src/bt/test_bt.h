// SPDX-License-Identifier: MIT
// For tests: runs scripts in this process, with the program of test_scope.h as their target.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "bt/probes.h"
#include "bt/script.h"
#include "script/blocks/split.h"
#include "script/blocks/text.h"
#include "script/blocks/verify.h"
#include "script/run/test_run.h"
#include "script/test_scope.h"

namespace blip::bt {

class TestWorld : public script::World {
 public:
  std::vector<script::CodeName> names_of(uint64_t, uint64_t address) override {
    if (address < 0x1000) return {};
    return {{.function = "work", .offset = address - 0x1000, .module = "/bin/target"}};
  }
  std::vector<uint64_t> stack(uint64_t number) override {
    return number == 1 ? std::vector<uint64_t>{0x1004, 0x1234} : std::vector<uint64_t>{};
  }
  std::string thread_name(uint64_t, uint64_t) override { return "worker"; }
  script::FiredProbe probe(uint64_t number) override {
    return {.wanted = number, .place = {.function = "handle"}};
  }
  uint64_t realtime_ns(uint64_t clock) override { return clock; }
  uint64_t target_pid() override { return 4711; }
  uint64_t parent(uint64_t) override { return 1; }
};

class TestWriter : public script::Writer {
 public:
  void write(std::string_view text) override { out += text; }
  void warn(std::string_view line) override { (out += line) += '\n'; }
  std::string out;
};

class TestSite : public script::HitSite {
 public:
  explicit TestSite(const script::HitScopes& scopes) : scopes_(scopes) {}
  const script::HitScopes& scopes() override { return scopes_; }

 private:
  script::HitScopes scopes_;
};

class ScriptRunner {
 public:
  bool is_json = false, is_unsafe = false;
  std::vector<std::string> arguments;
  int hits = 1;

  // What the script prints, or what is wrong with it. Handlers of hits run in two ways, which must print the same.
  std::string run(const std::string& source) {
    const std::string whole = run_once(source, false);
    const std::string in_parts = run_once(source, true);
    EXPECT_EQ(in_parts, whole) << "after split()";
    return whole;
  }

 private:
  using Kind = script::WantedProbe::Kind;

  std::string run_once(const std::string& source, bool is_split) {
    script::ParsedScript parsed = parse_script({.name = "stdin",
                                                .text = source,
                                                .arguments = arguments,
                                                .json = is_json,
                                                .may_run_commands = is_unsafe});
    if (!parsed.script) return parsed.script.error().message() + "\n";
    script::Script& made = **parsed.script;
    script::Program program;
    std::vector<script::HitProgram> targets(made.probes().size());
    for (const bool has_hit : {false, true})
      for (size_t i = 0; i < made.probes().size(); ++i) {
        if (runs_without_hit(made.probes()[i]) == has_hit) continue;
        const bool is_return = made.probes()[i].kind == Kind::kReturn;
        TestSite site(
            {.scope = &target_.scope, .is_return = is_return, .entry = is_return ? &target_.scope : nullptr});
        auto lowered = made.lower(i, has_hit ? &site : nullptr, program);
        if (!lowered) return lowered.error().message() + "\n";
        keep_entries(lowered->kept);
        program.functions.push_back(lowered->function);
      }
    const Status valid = script::verify(program);
    if (!valid) return "invalid: " + valid.error().message() + "\n" + script::print(program);
    if (is_split)
      for (script::Function& f : program.functions) {
        if (f.place != script::Function::Place::kHit) continue;
        auto parts = script::split(program, f);
        if (!parts) return parts.error().message() + "\n";
        targets[f.probe] = parts->target;
        f = parts->rest;
      }
    return execute(made, program, targets, is_split);
  }

  void keep_entries(const script::HitProgram& kept) {
    target_.machine.entries.clear();
    if (const auto values = script::run(kept, target_.machine))
      for (const script::OutputBytes& o : *values) {
        uint64_t n = 0;
        std::memcpy(&n, o.bytes.data(), std::min<size_t>(sizeof n, o.bytes.size()));
        target_.machine.entries.push_back(n);
      }
  }

  std::string execute(script::Script& made, const script::Program& program,
                      const std::vector<script::HitProgram>& targets, bool is_split) {
    TestWorld world;
    TestWriter writer;
    std::vector<state::Map> maps = script::maps_of(program);
    auto output = made.output({world, writer, program, maps});
    script::Interpreter interpreter(program, maps, *output, made.limits(), &world);
    const auto fire = [&](Kind kind) {
      for (uint32_t i = 0; i < program.functions.size(); ++i) {
        const uint32_t probe = program.functions[i].probe;
        if (made.probes()[probe].kind != kind) continue;
        script::HitContext hit{
            .clock = 1'000'000'000, .probe = probe, .pid = 7, .tid = 8, .cpu = 1, .stack = 1};
        std::vector<script::CapturedValue> captured;
        std::vector<script::OutputBytes> record;
        if (!is_split) hit.machine = &target_.machine;
        if (is_split && program.functions[i].captured.size() + targets[probe].outputs.size() +
                                (targets[probe].condition != script::kNone ? 1 : 0) >
                            0) {
          const auto made_record = script::run(targets[probe], target_.machine);
          if (!made_record) continue;
          record = *made_record;
          for (size_t k = 0; k < record.size(); ++k)
            captured.push_back(decoded(record[k], targets[probe].outputs[k]));
        }
        hit.captured = captured;
        output->told(probe, interpreter.run(i, hit), hit.clock);
      }
    };
    fire(Kind::kBegin);
    for (int i = 0; i < hits; ++i)
      for (const Kind kind : {Kind::kTimer, Kind::kFunction, Kind::kReturn, Kind::kInstruction, Kind::kMark})
        fire(kind);
    fire(Kind::kEnd);
    output->end();
    return writer.out;
  }

  static script::CapturedValue decoded(const script::OutputBytes& o, const script::Output& kind) {
    script::CapturedValue c{.is_fault = o.is_fault};
    const auto* bytes = reinterpret_cast<const char*>(o.bytes.data());
    if (kind.kind == script::Output::Kind::kValue)
      std::memcpy(&c.value.number, bytes, o.bytes.size());
    else
      c.value.text = {bytes, o.bytes.size()};
    return c;
  }

  script::TestProgram target_;
};

}  // namespace blip::bt
