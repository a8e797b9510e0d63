// SPDX-License-Identifier: MIT
// A script as it was written, without macros and conditions. Resolving fills in what names mean, inference the types.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stap/source.h"

namespace blip::stap {

enum class Type : uint8_t { kUnknown, kLong, kString, kStats };

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
struct Function;
struct Variable;
struct Builtin;

// What follows $var: ->member, [index], or $ or $$, which make a text of the whole.
struct Component {
  enum class Kind : uint8_t { kMember, kIndex, kPretty } kind = Kind::kMember;
  std::string text{};  // the member, or the $ signs
  ExpressionPtr index{};
  Spot spot{};
};

struct Expression {
  enum class Kind : uint8_t {
    kNumber,
    kText,
    kName,        // of a variable
    kElement,     // text[operands...], of `base` if it is a histogram; an operand may be null: *
    kIn,          // [operands...] in text
    kUnary,       // text is the sign
    kBinary,      // of numbers
    kComparison,  // of numbers or of texts
    kAnd,
    kOr,
    kTernary,
    kAssign,     // text is the sign: = += <<< ...
    kIncrement,  // ++ or --
    kConcat,
    kMatch,  // =~ and !~; operands[1] is a text
    kCall,
    kPrint,      // printf, println, sprintd, ...: `format` is the format or what stands between
    kStatistic,  // @count(operands[0])
    kHistogram,  // @hist_log(operands[0]), @hist_linear(operands[0], numbers)
    kTarget,     // $var
    kCast,       // @cast(operands[0], "format", "module")
    kVar,        // @var("format", "module")
    kAutocast,   // operands[0]->member, &operands[0]
    kDefined,    // @defined(operands[0])
    kEntry,      // @entry(operands[0])
    kPerf,       // @perf("format")
    kRegister,   // @uregister(number)
    kDeref,      // @uderef(number, operands[0])
    kEnum,       // @enum("format")
    kEnumName,   // @enumname(operands[0], "format", "module")
    kProbeWrite,
    kEmbedded,  // %{ ... %}
  } kind = Kind::kNumber;
  Spot spot{};
  std::string text{};
  uint64_t number = 0;
  std::vector<ExpressionPtr> operands{};
  ExpressionPtr base{};  // a histogram that is an array, or that is printed
  std::string format{}, module{};
  std::vector<int64_t> numbers{};
  std::vector<Component> components{};
  bool is_address = false;    // &$var
  bool is_prefix = false;     // ++x
  bool is_of_kernel = false;  // @kregister, @kderef
  uint32_t depth = 1;         // of the tree

  // By resolving and inference.
  Type type = Type::kUnknown;
  Variable* variable = nullptr;
  std::vector<Function*> functions{};  // those that a call may mean, tried one after the other
};

struct Statement;
using StatementPtr = std::unique_ptr<Statement>;

struct Foreach {
  std::vector<ExpressionPtr> keys{};  // names
  ExpressionPtr value{};              // a name, or null
  std::string array{};
  ExpressionPtr histogram{};  // in place of an array
  Spot array_spot{};
  bool has_slice = false;
  std::vector<ExpressionPtr> slice{};  // null: *
  int direction = 0;                   // 1 up, -1 down, 0 as they were put in
  uint32_t column = 0;                 // the key that sorts, from 1 on; 0: the value
  std::string statistic{};             // @count ...: of the value; empty: the usual one
  ExpressionPtr limit{};

  Variable* variable = nullptr;
};

struct Statement {
  enum class Kind : uint8_t {
    kEmpty,
    kBlock,
    kExpression,
    kIf,   // body: then, else
    kFor,  // also while
    kForeach,
    kReturn,  // value may be null
    kDelete,
    kNext,
    kBreak,
    kContinue,
    kTry,       // body: what is tried, what is done after an error; `init` is the name of its message
    kEmbedded,  // of a function
  } kind = Kind::kEmpty;
  Spot spot{};
  ExpressionPtr value{}, init{}, step{};
  std::vector<StatementPtr> body{};
  std::unique_ptr<Foreach> foreach{};
};

// A global, a parameter or a local.
struct Variable {
  std::string name{};
  Spot spot{};
  Type type = Type::kUnknown;     // of a value
  std::vector<Type> keys{};       // of an array
  std::optional<size_t> arity{};  // known when it was used first; 0: no array
  bool is_global = false, is_private = false;
  bool wraps = false;                        // array%[...]
  bool is_read = false, is_written = false;  // by uses.cc
  std::optional<int64_t> size{};             // array[...]
  ExpressionPtr init{};
};

struct Function {
  Spot spot{};
  std::string name{};
  Type type = Type::kUnknown;
  bool is_typed = false;  // the script says the type
  std::vector<std::unique_ptr<Variable>> parameters{};
  std::vector<std::unique_ptr<Variable>> locals{};
  StatementPtr body{};
  int64_t priority = 1;  // of functions of one name, smaller ones are tried first
  bool is_private = false;
  const Builtin* builtin = nullptr;  // it has no body

  // By resolving.
  bool is_resolved = false;
  bool is_reached = false;  // a handler calls it
};

struct ProbePoint {
  struct Part {
    std::string name{};
    std::optional<std::string> text{};  // ("...")
    std::optional<int64_t> number{};    // (...)
    Spot spot{};

    bool has_argument() const { return text || number; }
  };
  std::vector<Part> parts{};
  bool is_optional = false;    // ? or !
  bool is_sufficient = false;  // !
  std::shared_ptr<const Expression> condition{};
};

struct Probe {
  Spot spot{};
  std::vector<ProbePoint> points{};
  StatementPtr body{};
};

struct Alias {
  Spot spot{};
  std::vector<ProbePoint> names{};
  std::vector<ProbePoint> points{};
  bool is_epilogue = false;  // +=: its body comes behind that of the probe
  StatementPtr body{}, epilogue{};
};

struct File {
  std::vector<std::unique_ptr<Variable>> globals{};
  std::vector<std::unique_ptr<Function>> functions{};
  std::vector<Probe> probes{};
  std::vector<Alias> aliases{};
};

inline constexpr uint32_t kMaxDepth = 300;  // of expressions and statements

ExpressionPtr clone(const Expression& e);
StatementPtr clone(const Statement& s);

}  // namespace blip::stap
