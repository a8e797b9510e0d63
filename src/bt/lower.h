// SPDX-License-Identifier: MIT
// Makes the handler of one probe at one place. Types follow from what is written and, of what the target has, from its
// debugging information; a first run without a place finds the types of maps, and what is wrong without knowing a place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bt/declarations.h"
#include "bt/values.h"
#include "script/front/function_builder.h"
#include "script/front/script.h"
#include "script/front/target_names.h"

namespace blip::bt {

class Lowerer {
 public:
  // `site` is null for probes without a hit, and while types are found.
  Lowerer(Declarations& script, const script::WantedProbe& probe, uint32_t number, script::HitSite* site,
          script::Program& program);

  Result<script::Lowered> run(const ProbeBlock& block);
  bool uses_stack() const { return uses_stack_; }
  // False: what is not known yet about a map is settled when a handler needs it.
  void finds_types(bool only_types) { finds_types_ = only_types; }

 private:
  friend struct CallTable;
  using Kind = Type::Kind;
  using Value = script::Value;
  using Op = script::Op;

  struct Variable {
    Type type{};
    std::vector<uint32_t> locals{};
    std::optional<script::Operand> operand{};  // what it holds, if that is known without looking at the local
    bool is_declared = false;                  // with a type
  };
  struct Loop {
    uint32_t next, after;
    std::optional<uint32_t> counter{};
  };

  // lower_statements.cc
  Status block(const Expr& block);
  Result<Typed> block_value(const Expr& block);
  Status statement(const Stmt& s);
  Status body(const Expr& block);
  Status expression_statement(const Expr& e);
  Status declare(const Stmt& s);
  Status assign(const Stmt& s);
  Status assign_variable(const Expr& target, Typed value);
  Status assign_map(const Expr& target, const Expr& value, const Stmt& s);
  Status while_loop(const Stmt& s);
  Status unroll(const Stmt& s);
  Status range_loop(const Stmt& s);
  Status map_loop(const Stmt& s);
  Status jump(const Stmt& s);
  Result<Typed> conditional_blocks(const Expr& e, bool has_value);
  std::vector<uint32_t> assigned_in(const Expr& body);
  Variable* find_variable(const std::string& name);
  Variable& new_variable(const std::string& name, const Type& type);
  void set_variable(Variable& variable, const Typed& value);
  Typed variable_value(const Variable& variable);

  // lower_expressions.cc
  Result<Typed> value(const Expr& e);        // what it is, perhaps only in the target
  Result<Typed> whole_value(const Expr& e);  // with all that is to be shown or kept of it
  Result<Typed> local_value(const Expr& e);  // for a variable: of what lies in the target, its address
  Result<std::vector<Typed>> values(const std::vector<ExprPtr>& all, bool are_whole);
  Result<Value> number(const Expr& e);
  Result<Value> truth(const Expr& e);
  Result<Typed> look(const Expr& e);
  Result<Typed> name(const Expr& e);
  Result<Typed> positional(const Expr& e);
  Result<Typed> tuple(const Expr& e);
  Result<Typed> item(const Expr& e);
  Result<Typed> conditional(const Expr& e);
  Result<Typed> address_of_variable(const Expr& e);
  Result<Typed> size_of(const Expr& e);
  Result<Typed> offset_of(const Expr& e);

  // lower_operators.cc
  Result<Typed> unary(const Expr& e);
  Result<Typed> binary(const Expr& e);
  Result<Typed> logical(const Expr& e);
  Result<Typed> compute(const Expr& at, std::string_view sign, const Typed& a, const Typed& b);
  Result<Typed> compare(const Expr& at, std::string_view sign, const Typed& a, const Typed& b);
  Result<Typed> compare_texts(const Expr& at, std::string_view sign, const Typed& a, const Typed& b);
  Result<Typed> arithmetic(std::string_view sign, const Typed& a, const Typed& b);
  Result<Typed> move_pointer(const Expr& at, std::string_view sign, const Typed& pointer, const Typed& by);
  Result<Typed> increment(const Expr& e);
  Result<Typed> cast(const Expr& e);
  Result<Typed> cast_to(const Expr& at, const Typed& value, const Type& type);
  Value truth_of(const Typed& value);

  // lower_maps.cc
  Result<Typed> map_value(const Expr& e);
  Result<Typed> read_map(const MapShape& map, const std::vector<Value>& key, const Expr& at);
  Result<std::vector<Value>> key_of(const Expr& e, MapShape& map);  // of kMap and kElement
  Result<std::vector<Value>> key_from(const Expr& at, MapShape& map, const Typed& key);
  Status put(MapShape& map, const std::vector<Value>& key, const Typed& value, const Expr& at);
  Result<bool> aggregate(const Expr& target, const Expr& value);
  Status time_series(MapShape& map, std::vector<Value> key, const Expr& call);
  Status set_value_type(MapShape& map, const Type& type, const Expr& at);
  MapShape& map(const Expr& e);
  uint32_t map_number(MapShape& map);
  Value as_word(const MapShape& map, const std::vector<Value>& key, state::Statistic what);
  Typed from_packed(const Type& type, const Value& packed);
  Value packed(const Typed& value);

  // lower_calls.cc, lower_text_calls.cc
  Result<Typed> call(const Expr& e);
  using Call = Result<Typed> (Lowerer::*)(const Expr& e);
  Result<Typed> call_printf(const Expr& e);
  Result<Typed> call_print(const Expr& e);
  Result<Typed> call_exit(const Expr& e);
  Result<Typed> call_delete(const Expr& e);
  Result<Typed> call_whole_map(const Expr& e);
  Result<Typed> call_has_key(const Expr& e);
  Result<Typed> call_find(const Expr& e);
  Result<Typed> call_len(const Expr& e);
  Result<Typed> call_time(const Expr& e);
  Result<Typed> call_join(const Expr& e);
  Result<Typed> call_fail(const Expr& e);
  Result<Typed> call_assert(const Expr& e);
  Result<Typed> call_str(const Expr& e);
  Result<Typed> call_buf(const Expr& e);
  Result<Typed> call_strlen(const Expr& e);
  Result<Typed> call_strncmp(const Expr& e);
  Result<Typed> call_contains(const Expr& e);
  Result<Typed> call_strstr(const Expr& e);
  Result<Typed> call_concat(const Expr& e);
  Result<Typed> call_named_number(const Expr& e);
  Result<Typed> call_strftime(const Expr& e);
  Result<Typed> call_nsecs(const Expr& e);
  Result<Typed> call_usym(const Expr& e);
  Result<Typed> call_ustack(const Expr& e);
  Result<Typed> call_reg(const Expr& e);
  Result<Typed> call_uaddr(const Expr& e);
  Result<Typed> call_ntop(const Expr& e);
  Result<Typed> call_macaddr(const Expr& e);
  Result<Typed> call_bswap(const Expr& e);
  Result<Typed> call_builtin(const Expr& e);
  Result<Typed> call_pointer(const Expr& e);
  Result<Typed> call_is(const Expr& e);
  Result<Typed> call_aggregate(const Expr& e);
  Result<Typed> refused(const Expr& e);
  Result<Typed> builtin(const Expr& e, const std::string& name);
  std::optional<Typed> made_by_output(const std::string& name);
  Typed config();
  Result<Typed> literal_of(const Expr& e, size_t which, std::string_view what);

  // lower_target.cc
  Result<Typed> field(const Expr& e);
  Result<Typed> index(const Expr& e);
  Result<Typed> dereference(const Expr& e, const Typed& pointer);
  Result<Typed> from_operand(const Expr& at, const script::Operand& operand);
  Result<script::Operand> as_operand(const Expr& at, const Typed& value);
  Result<Typed> whole(const Expr& at, Typed value);
  Result<Typed> whole_of(const Expr& at, const script::Operand& operand, unsigned depth);
  Result<Typed> arguments(const Expr& at);
  Result<Typed> argument(const Expr& at, unsigned n);
  Result<Typed> returned(const Expr& at);
  Result<Value> read_text(const Expr& at, const Typed& from, uint32_t most);
  Result<Type> type_of(const TypeName& name);
  const script::Type* c_type(std::string_view name);
  Result<const script::Type*> c_type(const TypeName& name);

  // Values.
  Typed unknown() { return {.type = of_kind(Kind::kUnknown), .leaves = {f_.constant(0)}}; }
  Typed of_number(const Value& v, const Type& type = integer()) { return {.type = type, .leaves = {v}}; }
  Typed of_text(const Value& v, uint32_t most = 0) { return {.type = text_type(most), .leaves = {v}}; }
  Typed nothing() { return {}; }
  void keep(Typed& value);
  bool is_place_known() const { return names_ != nullptr; }
  // Emits or makes a text by a shape; its key is what makes it different from others.
  void emit(Shape shape, const std::vector<Value>& arguments);
  Value sprint(Shape shape, const std::vector<Value>& arguments);
  std::string key_of(const Shape& shape) const;
  static std::vector<Value> leaves_of_all(const std::vector<Typed>& all);

  Error at(Range range, std::string_view message) const;
  Error at(const Expr& e, std::string_view message) const { return at(e.range, message); }
  Error place(const Expr& e, const Error& error) const {
    return script::place_error(script_.source, e.range, error);
  }
  Status wants(const Expr& call, size_t least, size_t most) const;

  Declarations& script_;
  const script::WantedProbe& probe_;
  script::Program& program_;
  bool has_hit_;
  std::unique_ptr<script::TargetNames> names_;
  script::FunctionBuilder f_;
  std::vector<std::map<std::string, Variable>> scopes_;
  std::vector<Loop> loops_;
  uint32_t last_ = 0;  // the block at the end of the handler
  bool uses_stack_ = false;
  bool finds_types_ = true;
  bool only_size_ = false;  // an operand of sizeof
  unsigned depth_ = 0;
};

bool is_function(std::string_view name);

// True if it does something, or needs blocks of its own: then it is computed where it stands.
bool has_effects(const Expr& e);

}  // namespace blip::bt
