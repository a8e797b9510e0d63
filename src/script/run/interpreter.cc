// SPDX-License-Identifier: MIT
#include "script/run/interpreter.h"

#include <algorithm>

#include "script/run/flatten.h"

namespace blip::script {

namespace {

constexpr uint64_t kBits = 64;
constexpr size_t kTextsBeforeCollection = 1 << 16;

int64_t as_signed(uint64_t value) { return static_cast<int64_t>(value); }

uint64_t shift_right_signed(uint64_t a, uint64_t by) {
  return static_cast<uint64_t>(as_signed(a) >> std::min(by, kBits - 1));
}

bool is_caught(Failure failure) { return failure < Failure::kBudget; }

}  // namespace

const char* message_of(Failure failure) {
  switch (failure) {
    case Failure::kNothing:
    case Failure::kScript:
      return "";
    case Failure::kRead:
      return "memory that cannot be read";
    case Failure::kDivision:
      return "division by 0";
    case Failure::kLookup:
      return "a value without a name";
    case Failure::kEmpty:
      return "empty aggregate";
    case Failure::kMapFull:
      return "array overflow";
    case Failure::kBudget:
      return "too many operations for one hit";
    case Failure::kDepth:
      return "calls are nested too deep";
    case Failure::kTexts:
      return "too much text in one hit";
  }
  return "";
}

Interpreter::Interpreter(const Program& program, std::vector<state::Map>& maps, Sink& sink,
                         const RunLimits& limits, World* world)
    : program_(program), maps_(maps), sink_(sink), limits_(limits), world_(world) {
  functions_.reserve(program.functions.size());
  for (const Function& f : program.functions) functions_.push_back(flatten(program, f));
  for (const std::string& text : program.texts) texts_ += text;
  program_texts_ = texts_.size();
}

Outcome Interpreter::run(uint32_t function, const HitContext& hit) {
  hit_ = &hit;
  outcome_ = {};
  walks_.clear();
  budget_ = limits_.budget;
  texts_.resize(program_texts_);
  enter(function);
  execute();
  return std::move(outcome_);
}

void Interpreter::enter(uint32_t which) {
  const FlatFunction& f = functions_[which];
  const auto base = static_cast<uint32_t>(slots_.size());
  activations_.push_back({&f, which, base, static_cast<uint32_t>(walks_.size())});
  const size_t end = size_t{base} + f.first_constant + f.constants.size();
  slots_.resize(end);
  if (marks_.size() < end) marks_.resize(end);
  std::copy(f.constants.begin(), f.constants.end(), slots_.begin() + base + f.first_constant);
  const size_t walks = program_.functions[which].walks.size();
  if (walks > 0) walks_.resize(walks_.size() + walks);
}

void Interpreter::leave(std::optional<uint64_t> result) {
  slots_.resize(activations_.back().base);
  walks_.resize(activations_.back().first_walk);
  activations_.pop_back();
  if (activations_.empty() || !result) return;
  const Activation& caller = activations_.back();
  make(caller.function->code[caller.at].to, *result);
}

bool Interpreter::call(const Instruction& instruction) {
  const Effect& e = activations_.back().function->effects[instruction.number];
  const auto called = static_cast<uint32_t>(e.node.value);
  if (activations_.size() >= limits_.depth) return fail(Failure::kDepth, "");
  if (!take_budget(functions_[called].nodes)) return false;
  const uint32_t base = activations_.back().base;
  enter(called);
  for (size_t i = 0; i < e.list.size(); ++i) slots_[activations_.back().base + i] = slots_[base + e.list[i]];
  return true;
}

bool Interpreter::take_budget(uint64_t nodes) {
  if (nodes > budget_) return fail(Failure::kBudget, "");
  budget_ -= nodes;
  return true;
}

bool Interpreter::fail(Failure why, std::string message) {
  outcome_.failure = why;
  outcome_.message = message.empty() ? message_of(why) : std::move(message);
  return false;
}

// Finds who catches it: the block that failed, or that of a call on the way here.
bool Interpreter::go_on_after_failure() {
  while (!activations_.empty()) {
    Activation& a = activations_.back();
    const auto& blocks = a.function->on_failure;
    const auto behind = std::upper_bound(blocks.begin(), blocks.end(), std::pair(a.at, UINT32_MAX));
    if (is_caught(outcome_.failure) && (behind - 1)->second != kNone) {
      a.at = (behind - 1)->second;
      outcome_.failure = Failure::kNothing;  // its message stays: the catching block may ask for it
      return true;
    }
    leave(std::nullopt);
  }
  return false;
}

// One large switch, because the compiler keeps what all cases need in registers.
void Interpreter::execute() {
  const Instruction* code = nullptr;
  const Instruction* next = nullptr;
  uint64_t* s = nullptr;
  uint8_t* marks = nullptr;
  const auto load = [&](uint32_t at) {
    code = activations_.back().function->code.data();
    next = code + at;
    s = slots_.data() + activations_.back().base;
    marks = marks_.data() + activations_.back().base;
  };
  const auto save = [&](const Instruction& i) { activations_.back().at = static_cast<uint32_t>(&i - code); };
  load(0);
  uint64_t count = 0;
  for (;;) {
    const Instruction& i = *next++;
    ++count;
    bool is_fine = true;
    switch (i.code) {
      case Opcode::kMove:
        s[i.to] = s[i.a];
        continue;
      case Opcode::kAdd:
        s[i.to] = s[i.a] + s[i.b];
        continue;
      case Opcode::kSub:
        s[i.to] = s[i.a] - s[i.b];
        continue;
      case Opcode::kMul:
        s[i.to] = s[i.a] * s[i.b];
        continue;
      case Opcode::kAnd:
        s[i.to] = s[i.a] & s[i.b];
        continue;
      case Opcode::kOr:
        s[i.to] = s[i.a] | s[i.b];
        continue;
      case Opcode::kXor:
        s[i.to] = s[i.a] ^ s[i.b];
        continue;
      case Opcode::kShl:
        s[i.to] = s[i.b] >= kBits ? 0 : s[i.a] << s[i.b];
        continue;
      case Opcode::kShr:
        s[i.to] = s[i.b] >= kBits ? 0 : s[i.a] >> s[i.b];
        continue;
      case Opcode::kShrSigned:
        s[i.to] = shift_right_signed(s[i.a], s[i.b]);
        continue;
      case Opcode::kEqual:
        s[i.to] = s[i.a] == s[i.b];
        continue;
      case Opcode::kNotEqual:
        s[i.to] = s[i.a] != s[i.b];
        continue;
      case Opcode::kLess:
        s[i.to] = s[i.a] < s[i.b];
        continue;
      case Opcode::kLessSigned:
        s[i.to] = as_signed(s[i.a]) < as_signed(s[i.b]);
        continue;
      case Opcode::kLessEqual:
        s[i.to] = s[i.a] <= s[i.b];
        continue;
      case Opcode::kLessEqualSigned:
        s[i.to] = as_signed(s[i.a]) <= as_signed(s[i.b]);
        continue;
      case Opcode::kExtend:
        s[i.to] = s[i.a] << i.number >> i.number;
        continue;
      case Opcode::kExtendSigned:
        s[i.to] = static_cast<uint64_t>(as_signed(s[i.a] << i.number) >> i.number);
        continue;
      case Opcode::kIsNotZero:
        s[i.to] = s[i.a] != 0;
        continue;
      case Opcode::kIsZero:
        s[i.to] = s[i.a] == 0;
        continue;
      case Opcode::kJump:
        next = code + i.to;
        continue;
      case Opcode::kJumpIfZero:
        if (s[i.a] == 0) next = code + i.to;
        continue;
      case Opcode::kJumpIfNotZero:
        if (s[i.a] != 0) next = code + i.to;
        continue;
      case Opcode::kJumpIfEqual:
        if (s[i.a] == s[i.b]) next = code + i.to;
        continue;
      case Opcode::kJumpIfNotEqual:
        if (s[i.a] != s[i.b]) next = code + i.to;
        continue;
      case Opcode::kJumpIfLess:
        if (s[i.a] < s[i.b]) next = code + i.to;
        continue;
      case Opcode::kJumpIfNotLess:
        if (s[i.a] >= s[i.b]) next = code + i.to;
        continue;
      case Opcode::kJumpIfLessSigned:
        if (as_signed(s[i.a]) < as_signed(s[i.b])) next = code + i.to;
        continue;
      case Opcode::kJumpIfNotLessSigned:
        if (as_signed(s[i.a]) >= as_signed(s[i.b])) next = code + i.to;
        continue;
      case Opcode::kJumpIfFault:
        if (marks[i.a] != 0) next = code + i.to;
        continue;
      case Opcode::kCopyFault:
        marks[i.to] = marks[i.a];
        continue;
      case Opcode::kClearFault:
        marks[i.to] = 0;
        continue;
      case Opcode::kCountDefault:
        ++outcome_.defaults;
        continue;
      case Opcode::kCompute:
        compute(i);
        continue;
      case Opcode::kObserve:
        observe(i);
        if (outcome_.failure != Failure::kTexts) continue;
        is_fine = false;
        break;
      case Opcode::kSwitch: {
        const FlatSwitch& cases = activations_.back().function->switches[i.number];
        const auto found =
            std::lower_bound(cases.cases.begin(), cases.cases.end(), std::pair(s[i.a], uint32_t{0}));
        const bool is_there = found != cases.cases.end() && found->first == s[i.a];
        next = code + (is_there ? found->second : cases.otherwise);
        continue;
      }
      case Opcode::kBudget:
        is_fine = take_budget(i.number);
        if (i.a != 0 && texts_.size() > program_texts_ + kTextsBeforeCollection) collect_texts();
        break;
      case Opcode::kFailIfFault:
        if (marks[i.a] == 0) continue;
        is_fine = fail(static_cast<Failure>(marks[i.a]), "");
        break;
      case Opcode::kFail:
        is_fine = fail(Failure::kScript, std::string(text(s[i.a])));
        break;
      case Opcode::kEffect:
        is_fine = effect(i);
        break;
      case Opcode::kCall:
        save(i);
        if (!call(i)) {
          is_fine = false;
          break;
        }
        load(0);
        continue;
      case Opcode::kReturn: {
        leave(i.number ? std::optional(s[i.a]) : std::nullopt);
        if (activations_.empty()) {
          instructions_ += count;
          return;
        }
        load(activations_.back().at + 1);
        continue;
      }
    }
    if (is_fine) continue;
    save(i);
    if (!go_on_after_failure()) {
      instructions_ += count;
      return;
    }
    load(activations_.back().at);
  }
}

}  // namespace blip::script
