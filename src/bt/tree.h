// SPDX-License-Identifier: MIT
// A script as it is written, before anything is known about types.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "script/types/diagnostics.h"

namespace blip::bt {

using script::Range;

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

// "struct request *", "uint32", "int8[4]", "string[64]"; or the type of an expression: typeof($x).
struct TypeName {
  std::string name;             // with struct, union or enum before it, one blank between
  std::string suffixes;         // '*' and '[' in the order in which they are written
  std::vector<uint64_t> sizes;  // of each '[', 0 if it has none
  ExprPtr of;
  Range range{};
};

struct Expr {
  enum class Kind : uint8_t {
    kNothing,
    kInteger,       // number; is_negative: -number
    kText,          // text
    kBool,          // number
    kName,          // text: a builtin, a label of an enumeration, a C macro, a parameter of a macro
    kVariable,      // $text
    kMap,           // @text
    kElement,       // @text[operands[0]]
    kPositional,    // $number
    kPositionals,   // $#
    kUnary,         // sign operands[0]: ! ~ - *
    kBinary,        // operands[0] sign operands[1]
    kConditional,   // operands[0] ? operands[1] : operands[2]
    kIncrement,     // of operands[0]; sign is ++ or --, is_prefix
    kField,         // operands[0].text, and ->
    kItem,          // operands[0].number, of a tuple
    kIndex,         // operands[0][operands[1]]
    kCast,          // (type)operands[0]
    kTuple,         // (operands...)
    kRecord,        // (names = operands...)
    kCall,          // text(operands...)
    kSizeOf,        // sizeof(type), or of operands[0]
    kOffsetOf,      // offsetof(type, names), or of operands[0]
    kTypeInfo,      // typeinfo(type)
    kTypeArgument,  // typeof(...) as an argument
    kCompileTime,   // comptime operands[0]
    kAddress,       // & of operands[0]: a map or a variable
    kBlock,         // statements, then the value operands[0], if there is one
    kIf,            // operands[0], then the block operands[1], else operands[2], if there is one
  } kind = Kind::kNothing;
  Range range{};
  std::string text{}, sign{};
  uint64_t number = 0;
  bool is_prefix = false, is_negative = false;
  std::unique_ptr<TypeName> type{};
  std::vector<std::string> names{};
  std::vector<ExprPtr> operands{};
  std::vector<StmtPtr> statements{};
  // Of what a macro was expanded to: where it was called. Empty: it stands where it is.
  std::vector<Range> expanded_from{};
};

struct Stmt {
  enum class Kind : uint8_t {
    kExpression,  // value
    kAssign,      // target sign value: = += -= ...
    kDeclare,     // let target: type = value, either may be missing
    kWhile,       // while (value) body
    kUnroll,      // unroll (value) body
    kForRange,    // for (target : value..end) body
    kForMap,      // for (target : value) body
    kBreak,
    kContinue,
    kReturn,   // value, if it has one
    kDiscard,  // _ = value
  } kind = Kind::kExpression;
  Range range{};
  std::string sign{};
  ExprPtr target{}, value{}, end{}, body{};
  std::unique_ptr<TypeName> type{};
};

// "uprobe:./server:handle", as it is written.
struct AttachPoint {
  std::string text;
  Range range{};
};

struct ProbeBlock {
  std::vector<AttachPoint> points;
  ExprPtr predicate, body;
  Range range{};
};

struct Macro {
  std::string name;
  std::vector<ExprPtr> parameters;  // variables, maps, names
  ExprPtr body;
  Range range{};
};

// let @name = hash(100);
struct MapDeclaration {
  std::string name, kind;
  uint64_t limit = 0;
  Range range{};
};

struct ConfigItem {
  std::string name, value;
  bool is_text = false;
  Range range{};
};

// What the grammar has and blip has not yet.
struct Later {
  std::string what;
  Range range{};
};

struct Tree {
  std::vector<Later> later;
  std::vector<std::pair<std::string, Range>> definitions;  // struct, union, enum, as text, and where that is
  std::vector<std::pair<std::string, std::string>> defines;
  std::vector<ConfigItem> config;
  std::vector<Macro> macros;
  std::vector<MapDeclaration> maps;
  std::vector<ProbeBlock> probes;
};

ExprPtr copy(const Expr& e);
StmtPtr copy(const Stmt& s);

}  // namespace blip::bt
