// SPDX-License-Identifier: MIT
#include "script/values/collections.h"

#include <fmt/core.h>

#include <algorithm>

#include "script/types/type_names.h"
#include "script/values/field_layout.h"
#include "script/values/node_containers.h"
#include "script/values/view_steps.h"

namespace blip::script {

namespace {

using collect::kSequenceHead;
using collect::kTextHead;
using collect::Step;
using collect::Where;

constexpr uint32_t kLongDoubleInEvent = 64;  // a double and a text
constexpr unsigned kMostLooks = 2048;        // at types, which may lead to themselves

bool is_text_pointer(const Type& t) {
  return t.kind == TypeKind::kPointer && !t.name.starts_with('&') && t.target && is_character(*t.target);
}

// True if what is shown of the array would not say that there is more.
bool is_long_array(const Type& t, const Limits& limits) {
  return t.kind == TypeKind::kArray && t.target && !is_character(*t.target) &&
         t.count.value_or(0) > limits.elements;
}

// True if the type is shown as the value that it holds.
bool is_wrapper(const Type& t) {
  constexpr std::string_view kNames[] = {"array", "optional", "shared_ptr", "tuple", "unique_ptr"};
  return std::find(std::begin(kNames), std::end(kNames), bare_name(t.name)) != std::end(kNames);
}

// Types of which more is to be shown than their bytes.
class Looker {
 public:
  Looker(const FindType& find_type) : find_type_(find_type) {}

  bool has_parts(const Type& type, uint32_t depth = 0) {
    constexpr uint32_t kDeepest = 8;
    const Type& t = resolve(type);
    if (++looks_ > kMostLooks || depth > kDeepest) return false;
    if (is_text_pointer(t)) return true;
    if (t.kind == TypeKind::kArray) return t.target && has_parts(*t.target, depth + 1);
    if (!is_aggregate(t)) return false;
    if (find_node_container(t, types_) || find_view_step(t, find_type_) || is_wrapper(t)) return true;
    const auto members = members_of(t);
    return t.kind == TypeKind::kStruct &&
           std::any_of(members.begin(), members.end(), [&](const FoundMember& m) {
             return m.member->bit_size == 0 && has_parts(*m.member->type, depth + 1);
           });
  }

 private:
  const FindType& find_type_;
  TypeArena types_;
  unsigned looks_ = 0;
};

// In an event, for the plain part of a value, at most.
uint32_t event_bytes(const Field& s) {
  uint32_t members = 0;
  for (const Field& m : s.members) members += event_bytes(m);
  switch (s.type) {
    case FieldType::kText:
      return s.count + 1;
    case FieldType::kNote:
      return static_cast<uint32_t>(s.note.size()) + 1;
    case FieldType::kArray:
      return s.members.empty() ? 0 : s.count * event_bytes(s.members.front());
    case FieldType::kStruct:
      return members;
    case FieldType::kFloat:
      return s.size > sizeof(double) ? kLongDoubleInEvent : s.size;
    case FieldType::kCollectedText:
      return kTextHead;
    case FieldType::kCollected:
      return kSequenceHead;
    default:
      return s.size;
  }
}

void move_back(Field& s, uint32_t by) {
  const bool is_plain =
      s.type != FieldType::kCollected && s.type != FieldType::kCollectedText && s.type != FieldType::kNote;
  if (is_plain && s.type != FieldType::kStruct) s.begin -= by;
  if (s.type != FieldType::kStruct) return;
  s.begin = 0;
  for (Field& m : s.members) move_back(m, by);
}

class Collecter {
 public:
  Collecter(const Limits& limits, const FindType& find_type, TypeArena& types)
      : limits_(limits), find_type_(find_type), types_(types), looker_(find_type), budget_{limits} {}

  std::optional<Collection> run(const std::string& name, const Step& step, const Type& element) {
    Collection result;
    result.field = sequence(name, step, element, 0);
    if (is_too_much_ || result.field.type != FieldType::kCollected) return std::nullopt;
    result.steps = std::move(steps_);
    result.growth = growth_;
    return result;
  }

 private:
  // An element: its bytes, and the heads of its parts.
  struct Body {
    uint32_t begin = UINT32_MAX, end = 0;
    std::vector<size_t> parts{};
  };

  static uint32_t head(const Step& s) { return s.is_text ? kTextHead : kSequenceHead; }

  Field sequence(const std::string& name, Step step, const Type& element, uint32_t level) {
    const Type& t = resolve(element);
    if (level >= std::min(limits_.depth, collect::kMostLevels) || t.size == 0)
      return note(name, t.size == 0 ? "<incomplete type>" : "{...}");
    if (steps_.size() >= kMaxSteps || t.size > UINT16_MAX) {
      is_too_much_ = true;
      return note(name, "...");
    }
    if (step.stride == 0) step.stride = static_cast<uint32_t>(t.size);
    step.limit = limits_.elements;
    const size_t at = steps_.size();
    steps_.push_back(step);
    Body body;
    Field inner = part("", element, 0, 0, level, body);
    close(at, body, inner, static_cast<uint32_t>(t.size));
    return {.name = name,
            .type = FieldType::kCollected,
            .size = steps_[at].block_size,
            .count = step.limit,
            .members = {std::move(inner)}};
  }

  void close(size_t at, const Body& body, Field& inner, uint32_t size) {
    uint32_t after = 0;
    for (size_t i = body.parts.size(); i-- > 0;) {
      steps_[body.parts[i]].after = after;
      after += head(steps_[body.parts[i]]);
    }
    Step& step = steps_[at];
    step.next = static_cast<uint16_t>(steps_.size());
    if (body.end > body.begin) {
      step.block_offset = body.begin;
      step.block_size = body.end - body.begin;
    } else if (body.parts.empty()) {
      step.block_size = std::min(size, 1U);  // so that readers know how many there can be
    }
    step.least = step.block_size + after;
    move_back(inner, step.block_offset);
    growth_ = std::max(growth_, (4 * event_bytes(inner) + step.least - 1) / std::max(step.least, 1U));
  }

  Field plain(const std::string& name, const Type& type, uint32_t offset, uint32_t depth, Body& body) {
    const uint64_t size = resolve(type).kind == TypeKind::kReference ? sizeof(uint64_t) : resolve(type).size;
    Field field = layout_field(name, type, {.offset = offset, .end = offset + size}, depth, budget_);
    if (field.type == FieldType::kNote) return field;
    const uint64_t end =
        offset + (field.type == FieldType::kArray ? uint64_t{field.count} * field.size : size);
    body.begin = std::min(body.begin, offset);
    body.end = std::max(body.end, static_cast<uint32_t>(end));
    return field;
  }

  Field text(const std::string& name, Step step, uint32_t offset, Body& body) {
    if (steps_.size() >= kMaxSteps) {
      is_too_much_ = true;
      return note(name, "...");
    }
    step.is_text = true;
    step.offset = offset;
    step.limit = limits_.string_max;
    step.next = static_cast<uint16_t>(steps_.size() + 1);
    body.parts.push_back(steps_.size());
    steps_.push_back(step);
    return {.name = name, .type = FieldType::kCollectedText, .count = step.limit};
  }

  Field inner_sequence(const std::string& name, Step step, const Type& element, uint32_t offset,
                       uint32_t level, Body& body) {
    step.offset = offset;
    const size_t at = steps_.size();
    Field field = sequence(name, step, element, level + 1);
    if (field.type == FieldType::kCollected) body.parts.push_back(at);
    return field;
  }

  Field part(const std::string& name, const Type& type, uint32_t offset, uint32_t depth, uint32_t level,
             Body& body) {
    const Type& t = resolve(type);
    if (is_text_pointer(t)) return text(name, {.where = Where::kCString}, offset, body);
    const bool is_element = name.empty();
    if (t.kind == TypeKind::kArray && t.target && t.count && *t.count <= UINT32_MAX &&
        (looker_.has_parts(*t.target) || (is_element && is_long_array(t, limits_))))
      return inner_sequence(name, {.where = Where::kInline, .count = static_cast<uint32_t>(*t.count)},
                            *t.target, offset, level, body);
    if (!is_aggregate(t)) return plain(name, type, offset, depth, body);
    if (const auto view = find_view_step(t, find_type_))
      return view->step.is_text ? text(name, view->step, offset, body)
                                : inner_sequence(name, view->step, *view->element, offset, level, body);
    if (const auto node = find_node_container(t, types_))
      return inner_sequence(name, node->step, *node->element, offset, level, body);
    return aggregate(name, type, offset, depth, level, body);
  }

  // The offset of something in memory at the address `object` of `builder`.
  struct Inside {
    Builder builder;
    Access access;
    Operand whole;

    Inside(const Type& type, TypeArena& types) : access(builder, types) {
      whole = {.kind = Operand::Kind::kMemory, .type = &type, .node = builder.add({.op = Op::kRegister})};
    }
    std::optional<uint32_t> offset(const Operand& part) const {
      if (part.kind != Operand::Kind::kMemory) return std::nullopt;
      if (part.node == whole.node) return 0;
      const Node& sum = builder.node(part.node);
      const auto constant = sum.op == Op::kAdd ? builder.constant_of(sum.b) : std::nullopt;
      if (!constant || sum.a != whole.node || *constant > UINT16_MAX) return std::nullopt;
      return static_cast<uint32_t>(*constant);
    }
  };

  Field aggregate(const std::string& name, const Type& type, uint32_t offset, uint32_t depth, uint32_t level,
                  Body& body) {
    const Type& t = resolve(type);
    Inside inside(t, types_);
    if (const auto owned = find_owned(inside.access, inside.whole))
      if (const auto at = inside.offset(*owned)) return plain(name, *owned->type, offset + *at, depth, body);
    if (const auto array = find_std_array(inside.access, inside.whole))
      if (const auto at = inside.offset(*array))
        return part(name, *array->type, offset + *at, depth, level, body);
    if (depth >= limits_.depth) return note(name, "{...}");
    Field field{.name = name, .type = FieldType::kStruct};
    if (const auto optional = find_optional(inside.access, inside.whole)) {
      const auto flag = inside.offset(optional->has_value), value = inside.offset(optional->value);
      if (flag && value) {
        field.members.push_back(plain("has_value", *optional->has_value.type, offset + *flag, depth, body));
        field.members.push_back(inner_sequence("value", {.where = Where::kIf, .a = *value, .b = *flag},
                                               *optional->value.type, offset, level, body));
        return field;
      }
    }
    if (const auto tuple = find_tuple(inside.access, inside.whole)) {
      for (const Operand& element : *tuple) {
        const auto at = inside.offset(element);
        const std::string number = fmt::format("[{}]", field.members.size());
        field.members.push_back(at ? part(number, *element.type, offset + *at, depth + 1, level, body)
                                   : note(number, "<reference>"));
      }
      return field;
    }
    if (!looker_.has_parts(t)) return plain(name, type, offset, depth, body);
    for (const FoundMember& m : members_of(t)) field.members.push_back(member(m, offset, depth, level, body));
    return field;
  }

  Field member(const FoundMember& m, uint32_t offset, uint32_t depth, uint32_t level, Body& body) {
    if (!budget_.take()) is_too_much_ = true;
    const auto at = static_cast<uint32_t>(offset + m.offset);
    if (m.member->bit_size == 0) return part(m.member->name, *m.member->type, at, depth + 1, level, body);
    const uint32_t end = at + static_cast<uint32_t>(resolve(*m.member->type).size);
    Field field = member_field(m, {.offset = offset, .end = end}, depth + 1, budget_);
    if (field.type == FieldType::kNote) return field;
    body.begin = std::min(body.begin, field.begin);
    body.end = std::max(body.end, field.begin + field.size);
    return field;
  }

  const Limits& limits_;
  const FindType& find_type_;
  TypeArena& types_;
  Looker looker_;
  FieldBudget budget_;
  std::vector<Step> steps_;
  uint32_t growth_ = 4;
  bool is_too_much_ = false;
};

}  // namespace

bool has_parts(const Type& type, const FindType& find_type) { return Looker(find_type).has_parts(type); }

std::optional<Collection> collect_container(const std::string& name, const Type& type, const Limits& limits,
                                            const FindType& find_type, TypeArena& types) {
  if (const auto found = find_node_container(type, types))
    return Collecter(limits, find_type, types).run(name, found->step, *found->element);
  return std::nullopt;
}

std::optional<Collection> collect_elements(const std::string& name, const Type& element, const Limits& limits,
                                           const FindType& find_type, TypeArena& types) {
  if (!has_parts(element, find_type) && !is_long_array(resolve(element), limits)) return std::nullopt;
  return Collecter(limits, find_type, types).run(name, {.where = Where::kGiven}, element);
}

}  // namespace blip::script
