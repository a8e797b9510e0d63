// SPDX-License-Identifier: MIT
#include "script/front/blocks_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "script/blocks/line.h"
#include "script/blocks/text.h"
#include "script/blocks/verify.h"
#include "script/front/blocks_output.h"

namespace blip::script {

namespace {

using Kind = WantedProbe::Kind;

// How a probe of a kind goes on.
struct KindRow {
  std::string_view word;
  Kind kind;
  void (*read)(Line& line, WantedProbe& probe);
};

void read_nothing(Line&, WantedProbe&) {}
void read_period(Line& line, WantedProbe& probe) {
  probe.period = std::chrono::nanoseconds(line.number());
  if (probe.period.count() <= 0) line.fail("a timer needs a period, in ns");
}
void read_signal(Line& line, WantedProbe& probe) { probe.number = static_cast<int>(line.small_number(64)); }
void read_process(Line& line, WantedProbe& probe) {
  if (line.is_number_next()) probe.number = static_cast<int>(line.small_number(INT32_MAX));
}
void read_name(Line& line, WantedProbe& probe) {
  probe.module = line.quoted();
  probe.name = line.quoted();
}
void read_instruction(Line& line, WantedProbe& probe) {
  read_name(line, probe);
  probe.offset = line.number();
}
void read_line(Line& line, WantedProbe& probe) {
  probe.file = line.quoted();
  probe.line = line.small_number();
}

constexpr KindRow kKinds[] = {
    {"begin", Kind::kBegin, read_nothing},
    {"end", Kind::kEnd, read_nothing},
    {"error", Kind::kError, read_nothing},
    {"never", Kind::kNever, read_nothing},
    {"timer", Kind::kTimer, read_period},
    {"profile", Kind::kProfile, read_period},
    {"signal", Kind::kSignal, read_signal},
    {"process_begin", Kind::kProcessBegin, read_process},
    {"process_end", Kind::kProcessEnd, read_process},
    {"thread_begin", Kind::kThreadBegin, read_process},
    {"thread_end", Kind::kThreadEnd, read_process},
    {"function", Kind::kFunction, read_name},
    {"return", Kind::kReturn, read_name},
    {"mark", Kind::kMark, read_name},
    {"instruction", Kind::kInstruction, read_instruction},
    {"line", Kind::kLine, read_line},
};

class BlocksScript final : public Script {
 public:
  BlocksScript(std::vector<WantedProbe> probes, Program program)
      : probes_(std::move(probes)), program_(std::move(program)) {}

  const std::vector<WantedProbe>& probes() const override { return probes_; }
  RunLimits limits() const override { return {}; }

  Result<Lowered> lower(size_t probe, HitSite*, Program& program) override {
    if (program.functions.empty() && program.maps.empty()) declare(program);
    const Function* handler = handler_of(program_, probe);
    return Lowered{renumbered(*handler)};
  }

  std::unique_ptr<ScriptOutput> output(const OutputContext& context) override {
    return std::make_unique<BlocksOutput>(context);
  }

  static const Function* handler_of(const Program& program, size_t probe) {
    const auto found = std::find_if(program.functions.begin(), program.functions.end(),
                                    [&](const Function& f) { return f.probe == probe; });
    return found == program.functions.end() ? nullptr : &*found;
  }

 private:
  // All that is no handler.
  void declare(Program& program) {
    numbers_.clear();
    uint32_t next = 0;
    for (const Function& f : program_.functions) numbers_.push_back(f.probe == kNone ? next++ : kNone);
    program = program_;
    program.functions.clear();
    for (const Function& f : program_.functions)
      if (f.probe == kNone) program.functions.push_back(renumbered(f));
  }

  Function renumbered(Function f) const {
    for (Block& b : f.blocks)
      for (Node& n : b.nodes)
        if (n.op == BlockOp::kCall) n.value = numbers_[n.value];
    return f;
  }

  std::vector<WantedProbe> probes_;
  Program program_;
  std::vector<uint32_t> numbers_;  // of functions that are no handlers
};

Error wrong_line(size_t number, const std::string& what) {
  return Error(ErrorKind::kUsage, fmt::format("line {}: {}", number, what));
}

Result<WantedProbe> parse_probe(std::string_view text, size_t line_number, size_t wanted) {
  Line line(text);
  line.expect("probe");
  if (line.number() != wanted) line.fail(fmt::format("its number is not {}, which is the next", wanted));
  const std::string word = line.word();
  const auto row =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindRow& k) { return k.word == word; });
  WantedProbe probe;
  if (row == std::end(kKinds)) {
    line.fail("no such probe: " + word);
  } else {
    probe.kind = row->kind;
    row->read(line, probe);
  }
  probe.uses_stack = line.skip("stack");
  if (!line.is_at_end()) line.fail("unexpected: " + line.word());
  if (!line.error().empty()) return wrong_line(line_number, line.error());
  return probe;
}

// Takes the lines of probes out of the text, and leaves empty ones there.
Result<std::vector<WantedProbe>> take_probes(std::string& text) {
  std::vector<WantedProbe> probes;
  size_t at = 0;
  for (size_t number = 1; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    if (line.starts_with("probe ")) {
      TRY(WantedProbe probe, parse_probe(line, number, probes.size()));
      probe.range = {static_cast<uint32_t>(at), static_cast<uint32_t>(end)};
      probes.push_back(std::move(probe));
      std::fill(text.begin() + static_cast<ptrdiff_t>(at), text.begin() + static_cast<ptrdiff_t>(end), ' ');
    } else if (number == 1 && line.starts_with("#!")) {
      std::fill(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), ' ');
    }
    at = end + 1;
  }
  return probes;
}

// A function `at hit` that is no handler cannot be called from blip; verify() sees that.
Status check_handlers(const std::vector<WantedProbe>& probes, const Program& program) {
  for (size_t i = 0; i < probes.size(); ++i)
    if (!BlocksScript::handler_of(program, i))
      return Error(ErrorKind::kUsage, fmt::format("probe {} has no handler: function NAME probe {}", i, i));
  for (const Function& f : program.functions) {
    if (f.probe == kNone) continue;
    if (f.probe >= probes.size())
      return Error(ErrorKind::kUsage, fmt::format("function {}: there is no probe {}", f.name, f.probe));
    const bool is_at_hit = f.place == Function::Place::kHit;
    if (is_at_hit != has_hit(probes[f.probe].kind))
      return Error(ErrorKind::kUsage, fmt::format("function {}: a handler of this probe is at {}", f.name,
                                                  is_at_hit ? "blip" : "hit"));
  }
  return {};
}

Result<std::unique_ptr<Script>> parse(std::string text) {
  TRY(std::vector<WantedProbe> probes, take_probes(text));
  const auto said = [](const Error& error) { return Error(ErrorKind::kUsage, error.message()); };
  auto program = parse_program(text);
  if (!program) return said(program.error());
  if (const Status valid = verify(*program); !valid) return said(valid.error());
  TRY_OK(check_handlers(probes, *program));
  return std::unique_ptr<Script>(new BlocksScript(std::move(probes), *std::move(program)));
}

}  // namespace

ParsedScript parse_blocks(const ScriptText& text) { return {.script = parse(text.text)}; }

}  // namespace blip::script
