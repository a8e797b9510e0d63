// SPDX-License-Identifier: MIT
#include "script/values/presenter.h"

#include <fmt/core.h>

#include <algorithm>

namespace blip::script {

namespace {

using Kind = Operand::Kind;

constexpr uint32_t kWord = 8;
constexpr uint64_t kShortArray = 32;  // of characters: all of them cost no more than a look for the end
constexpr uint32_t kLeastText = 16;   // what is shorter says nothing

uint32_t cost(const Output& o) {
  uint32_t bytes = 0;
  if (o.kind != Output::Kind::kValue && o.kind != Output::Kind::kSequence) bytes = o.count;
  if (o.kind == Output::Kind::kSequence) bytes = o.count * o.size;
  const uint32_t fixed = o.kind == Output::Kind::kBytes ? 0 : kWord;
  return fixed + (bytes + kWord - 1) / kWord * kWord;
}

Field no_room(const std::string& name) { return note(name, "..."); }

// The least room in which something about a value can be shown.
uint32_t least_room(const Type& type) {
  constexpr uint32_t kSome = 32;
  const Type& t = resolve(type);
  const bool is_text = t.kind == TypeKind::kPointer && t.target && is_character(*t.target);
  return is_text || is_aggregate(t) || t.kind == TypeKind::kArray ? kWord + kSome : kWord;
}

uint32_t least_room(const Operand& operand) {
  const bool has_none = operand.kind == Kind::kOptimizedOut || operand.kind == Kind::kText;
  return has_none || !operand.type ? 0 : least_room(*operand.type);
}

}  // namespace

std::vector<Field> Presenter::present(std::span<const Named> fields) {
  const auto may_be_large = [](const Operand& operand) { return least_room(operand) > kWord; };
  uint32_t later = 0, large = 0;
  for (const Named& field : fields) {
    later += least_room(field.operand);
    large += may_be_large(field.operand);
  }
  std::vector<Field> made;
  for (const auto& [name, operand, group] : fields) {
    later -= least_room(operand);
    keep_room(later);
    sharers_ = std::max(large, 1U);
    large -= may_be_large(operand);
    made.push_back(show(name, operand, 0));
    made.back().group = group;
  }
  return made;
}

uint32_t Presenter::add(const Output& output) {
  if (cost(output) > room()) return kNone;
  room_ -= cost(output);
  outputs_.push_back(output);
  return static_cast<uint32_t>(outputs_.size() - 1);
}

Field Presenter::show(const std::string& name, const Operand& operand, uint32_t depth) {
  if (operand.kind == Kind::kOptimizedOut) return note(name, fmt::format("<{}>", text_of(operand.why)));
  if (operand.kind == Kind::kText) return note(name, operand.text);
  if (auto field = wrapped(name, operand, depth)) return *std::move(field);
  const Type& type = resolve(*operand.type);
  if (type.kind == TypeKind::kArray) return array(name, operand, depth);
  if (is_aggregate(type)) return aggregate(name, operand, depth);
  if (type.kind == TypeKind::kVoid) return note(name, "<void>");
  if (type.kind == TypeKind::kUnknown) return note(name, "<unknown type>");
  if (type.kind == TypeKind::kPointer && type.target && is_character(*type.target)) {
    const auto address = access_.bits(operand);
    return address ? text(name, *address, limits_.string_max)
                   : note(name, "<" + address.error().message() + ">");
  }
  if (type.size == 16) {
    if (operand.kind == Kind::kMemory) return bytes(name, operand, type.size, depth);
    if (type.kind == TypeKind::kInt) return halves(name, operand);
    return note(name, "<in a register>");
  }
  return scalar(name, operand);
}

Field Presenter::scalar(const std::string& name, const Operand& operand) {
  if (scalar_kind(*operand.type) == FieldType::kNote) return note(name, "<unknown type>");
  const auto node = operand.bit_size ? access_.number(operand) : access_.bits(operand);
  if (!node) return note(name, "<" + node.error().message() + ">");
  Field field = scalar_field(name, *operand.type, 0, 0);
  field.output = add({.kind = Output::Kind::kValue, .node = *node, .size = field.size});
  return field.output == kNone ? no_room(name) : field;
}

// The low eight bytes of an integer of 16, and the high ones.
Field Presenter::halves(const std::string& name, const Operand& operand) {
  Field field{.name = name, .type = FieldType::kStruct};
  for (uint64_t i = 0; i < 2; ++i)
    field.members.push_back(
        scalar(fmt::format("[{}]", i), access_.part(operand, i * kWord, int_type(kWord, false))));
  return field;
}

Field Presenter::text(const std::string& name, uint32_t address, uint64_t most) {
  const uint64_t space = room() > kWord ? (room() - kWord) / kWord * kWord : 0;
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(most, space));
  if (count < std::min<uint64_t>(most, kLeastText)) return no_room(name);
  const uint32_t output = add({.kind = Output::Kind::kString, .node = address, .count = count});
  if (output == kNone) return no_room(name);
  return {.name = name, .type = FieldType::kText, .output = output, .count = count};
}

// All bytes of something in memory.
Field Presenter::bytes(const std::string& name, const Operand& operand, uint64_t size, uint32_t depth) {
  const uint64_t count = std::min<uint64_t>(size, uint64_t{room() / kWord} * kWord);
  if (count == 0) return no_room(name);
  const uint32_t output =
      add({.kind = Output::Kind::kBytes, .node = operand.node, .count = static_cast<uint32_t>(count)});
  if (output == kNone) return no_room(name);
  FieldBudget budget{limits_};
  return layout_field(name, *operand.type, {.output = output, .end = count}, depth, budget);
}

Field Presenter::array(const std::string& name, const Operand& operand, uint32_t depth) {
  const Type& type = resolve(*operand.type);
  const uint64_t size = type.target ? resolve(*type.target).size : 0, count = type.count.value_or(0);
  if (type.length && size != 0 && operand.kind == Kind::kMemory) return of_own_length(name, operand);
  if (size == 0 || count == 0) return note(name, "<no length>");
  if (operand.kind == Kind::kValue) return in_register(name, operand, depth);
  if (operand.kind != Kind::kMemory) return scattered(name, operand, count, depth);
  if (is_character(*type.target) && count > kShortArray)
    return text(name, operand.node, std::min<uint64_t>(count, limits_.string_max));
  if (auto field = elements_with_parts(
          name, {.data = operand.node, .length = access_.builder().constant(count), .element = type.target}))
    return *std::move(field);
  const uint64_t elements = std::min<uint64_t>(count, limits_.elements);
  if (size > room()) return no_room(name);
  return bytes(name, operand, elements * size, depth);
}

// Its length is known at run time.
Field Presenter::of_own_length(const std::string& name, const Operand& operand) {
  const Type& type = resolve(*operand.type);
  const uint32_t length = access_.builder().append(*type.length);
  if (length == kNone) return note(name, "<no length>");
  return view(name, {.data = operand.node,
                     .length = length,
                     .element = type.target,
                     .is_text = is_character(*type.target)});
}

// In registers: as a structure, whose members are the elements.
Field Presenter::scattered(const std::string& name, const Operand& operand, uint64_t count, uint32_t depth) {
  constexpr uint64_t kMost = 16;  // bytes of two registers
  const Type& element = *resolve(*operand.type).target;
  if (operand.kind != Kind::kPieces || count > kMost) return note(name, "<in several places>");
  Field field{.name = name, .type = FieldType::kStruct};
  for (uint64_t i = 0; i < count; ++i) {
    const Operand part = access_.part(operand, i * resolve(element).size, element);
    field.members.push_back(show(fmt::format("[{}]", i), part, depth + 1));
  }
  return field;
}

Field Presenter::aggregate(const std::string& name, const Operand& operand, uint32_t depth) {
  const Type& type = resolve(*operand.type);
  if (depth >= limits_.depth) return note(name, "{...}");
  if (type.size == 0) return note(name, "<incomplete type>");
  if (operand.kind == Kind::kMemory) return in_memory(name, operand, depth);
  if (operand.kind == Kind::kPieces) return in_pieces(name, operand, depth);
  return in_register(name, operand, depth);
}

// One output for all, and others for members that are more than their bytes.
Field Presenter::in_memory(const std::string& name, const Operand& operand, uint32_t depth) {
  Field field = bytes(name, operand, resolve(*operand.type).size, depth);
  if (field.type != FieldType::kStruct) return field;
  improve_members(field, operand, depth);
  return field;
}

// Members that are more than their bytes; bit-fields that no word has as a whole.
void Presenter::improve_members(Field& field, const Operand& operand, uint32_t depth) {
  const auto members = members_of(*operand.type);
  const auto may_be_more = [&](size_t i) {
    const Type& type = resolve(*members[i].member->type);
    const bool is_text = type.kind == TypeKind::kPointer && type.target && is_character(*type.target);
    return members[i].member->bit_size == 0 &&
           (is_text || is_aggregate(type) || type.kind == TypeKind::kArray);
  };
  const size_t end = std::min(members.size(), field.members.size());
  for (size_t i = 0; i < end; ++i)
    if (members[i].member->bit_size && field.members[i].type == FieldType::kNote)
      field.members[i] = scalar(members[i].member->name, access_.member(operand, members[i]));
  const uint32_t kept = kept_, others = sharers_ - 1;
  uint32_t later = 0, large = 0;
  for (size_t i = 0; i < end; ++i) {
    if (!may_be_more(i)) continue;
    later += least_room(*members[i].member->type);
    ++large;
  }
  for (size_t i = 0; i < end; ++i) {
    if (field.members[i].name == "...") break;  // the rest has no room
    if (!may_be_more(i)) continue;
    later -= least_room(*members[i].member->type);
    keep_room(kept + later);
    sharers_ = others + large--;
    const Operand member = access_.part(operand, members[i].offset, *members[i].member->type);
    if (auto found = better(members[i].member->name, member, depth + 1)) {
      if (found->type != FieldType::kNote) field.members[i] = *std::move(found);
    } else if (field.members[i].type == FieldType::kStruct && member.kind == Kind::kMemory) {
      improve_members(field.members[i], member, depth + 1);
    }
  }
  sharers_ = others + 1;
  keep_room(kept);
}

// None: its bytes say all.
std::optional<Field> Presenter::better(const std::string& name, const Operand& member, uint32_t depth) {
  if (auto found = wrapped(name, member, depth)) return found;
  const Type& type = resolve(*member.type);
  if (member.kind != Kind::kMemory) return std::nullopt;
  if (type.kind == TypeKind::kArray && type.target && type.count)
    return elements_with_parts(
        name,
        {.data = member.node, .length = access_.builder().constant(*type.count), .element = type.target});
  if (type.kind != TypeKind::kPointer || !type.target || !is_character(*type.target)) return std::nullopt;
  const auto address = access_.bits(member);
  return address ? std::optional(text(name, *address, limits_.string_max)) : std::nullopt;
}

Field Presenter::in_pieces(const std::string& name, const Operand& operand, uint32_t depth) {
  Field field{.name = name, .type = FieldType::kStruct};
  for (const FoundMember& m : members_of(*operand.type)) {
    if (field.members.size() >= kMaxOutputs) break;  // there are not that many pieces
    field.members.push_back(show(m.member->name, access_.member(operand, m), depth + 1));
  }
  return field;
}

Field Presenter::in_register(const std::string& name, const Operand& operand, uint32_t depth) {
  const uint32_t output = add({.kind = Output::Kind::kValue, .node = operand.node, .size = kWord});
  if (output == kNone) return no_room(name);
  FieldBudget budget{limits_};
  return layout_field(name, *operand.type, {.output = output, .end = kWord}, depth, budget);
}

// Types of standard libraries.
std::optional<Field> Presenter::wrapped(const std::string& name, const Operand& operand, uint32_t depth) {
  if (const auto found = find_view(access_, operand, find_type_)) return view(name, *found);
  if (operand.kind == Kind::kMemory)
    if (auto found = collect_container(name, *operand.type, limits_, find_type_, access_.types()))
      return collected(name, *std::move(found), operand.node, access_.builder().constant(0));
  if (const auto owned = find_owned(access_, operand)) return scalar(name, *owned);
  if (const auto found = find_optional(access_, operand)) return optional(name, *found, depth);
  if (const auto found = find_std_array(access_, operand)) return array(name, *found, depth);
  if (const auto found = find_tuple(access_, operand)) return tuple(name, *found, depth);
  if (!limits_.variants) return std::nullopt;
  if (const auto found = find_variants(access_, operand)) return variants(name, *found, depth);
  return std::nullopt;
}

// Without elements if it is not there. What is behind the condition is not read then.
View Presenter::if_there(View view, uint32_t is_there) {
  Builder& b = access_.builder();
  const auto select = [&](uint32_t node) {
    return b.add({.op = Op::kSelect, .a = is_there, .b = node, .c = b.constant(0)});
  };
  view.data = select(view.data);
  view.length = select(view.length);
  return view;
}

// One of several: a text, else a sequence of one or none.
Field Presenter::if_there(const std::string& name, const Operand& value, uint32_t is_there, uint32_t depth) {
  if (const auto inner = find_view(access_, value, find_type_)) return view(name, if_there(*inner, is_there));
  if (value.kind == Kind::kMemory)
    return view(name, {.data = value.node, .length = is_there, .element = value.type, .most = 1});
  return show(name, or_zero(value, is_there), depth + 1);
}

// The registers of a value that is not there belong to another one.
Operand Presenter::or_zero(Operand value, uint32_t is_there) {
  Builder& b = access_.builder();
  const auto select = [&](Operand& part) {
    if (part.kind == Kind::kValue)
      part.node = b.add({.op = Op::kSelect, .a = is_there, .b = part.node, .c = b.constant(0)});
  };
  select(value);
  for (Operand::Piece& piece : value.pieces) select(piece.part);
  return value;
}

// Which it is, and the data of those that have some: only one's is there.
Field Presenter::variants(const std::string& name, const Variants& found, uint32_t depth) {
  if (depth >= limits_.depth) return note(name, "{...}");
  Field which{.name = "variant", .type = FieldType::kEnum, .size = found.size};
  which.labels = labels_of(found.names);
  which.output = add({.kind = Output::Kind::kValue, .node = found.which, .size = found.size});
  if (which.output == kNone) return no_room(name);
  Field field{.name = name, .type = FieldType::kStruct};
  field.members.push_back(std::move(which));
  for (const Variants::One& one : found.all)
    if (one.value) field.members.push_back(if_there(one.name, *one.value, one.is_there, depth));
  return field;
}

// Without a value the bytes of one are anything: a number is 0 then, anything else a sequence of none.
Field Presenter::optional(const std::string& name, const Optional& found, uint32_t depth) {
  Field field{.name = name, .type = FieldType::kStruct};
  field.members.push_back(show("has_value", found.has_value, depth + 1));
  const auto has_value = access_.number(found.has_value);
  if (!has_value) return field;
  const Type& type = *found.value.type;
  const auto if_there = [&](uint32_t node) {
    Builder& b = access_.builder();
    return b.add({.op = Op::kSelect, .a = *has_value, .b = node, .c = b.constant(0)});
  };
  if (auto inner = find_view(access_, found.value, find_type_)) {
    inner->length = if_there(inner->length);
    field.members.push_back(view("value", *inner));
  } else if (scalar_kind(type) != FieldType::kNote && resolve(type).size <= kWord) {
    const auto bits = access_.bits(found.value);
    field.members.push_back(bits ? scalar("value", access_.value(if_there(*bits), type)) : no_room("value"));
  } else if (found.value.kind == Kind::kMemory) {
    field.members.push_back(
        view("value", {.data = found.value.node, .length = *has_value, .element = &type, .most = 1}));
  } else {
    field.members.push_back(show("value", found.value, depth + 1));
  }
  return field;
}

// Bytes of the record, and of the event, that are left for it are shared with what comes later.
Field Presenter::collected(const std::string& name, Collection found, uint32_t address, uint32_t length) {
  constexpr uint32_t kQuarters = 4;
  const uint32_t own = std::min(room(), room_ / sharers_);
  const uint32_t space = own > kWord ? (own - kWord) / kWord * kWord : 0;
  // Values that are larger in the event than in the record get less room, since they grow by up to half.
  const uint32_t most =
      std::min<uint64_t>(space, uint64_t{space} * (kQuarters + kQuarters / 2) / found.growth);
  if (most < collect::kSequenceHead + found.steps.front().least) return no_room(name);
  found.field.output = add({.kind = Output::Kind::kCollected,
                            .node = address,
                            .length = length,
                            .size = 1,
                            .count = most,
                            .steps = std::move(found.steps)});
  return found.field.output == kNone ? no_room(name) : found.field;
}

// Elements that hold texts or containers.
std::optional<Field> Presenter::elements_with_parts(const std::string& name, const View& view) {
  auto found = collect_elements(name, *view.element, limits_, find_type_, access_.types());
  if (!found) return std::nullopt;
  found->steps.front().limit =
      std::min(found->steps.front().limit, static_cast<uint32_t>(std::min<uint64_t>(view.most, UINT16_MAX)));
  return collected(name, *std::move(found), view.data, view.length);
}

Field Presenter::view(const std::string& name, const View& view) {
  if (!view.is_text)
    if (auto field = elements_with_parts(name, view)) return *std::move(field);
  const uint64_t size = resolve(*view.element).size;
  const uint64_t space = room() > kWord ? (room() - kWord) / kWord * kWord : 0;
  if (size == 0) return note(name, "<incomplete type>");
  const uint64_t most = std::min<uint64_t>(view.most, view.is_text ? limits_.string_max : limits_.elements);
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(most, space / size));
  if (count == 0) return no_room(name);
  const uint32_t output = add({.kind = Output::Kind::kSequence,
                               .node = view.data,
                               .length = view.length,
                               .size = static_cast<uint32_t>(size),
                               .count = count});
  if (output == kNone) return no_room(name);
  Field field{.name = name, .output = output, .size = static_cast<uint32_t>(size), .count = count};
  field.type = view.is_text ? FieldType::kText : FieldType::kSequence;
  FieldBudget budget{limits_};
  if (!view.is_text)
    field.members.push_back(layout_field("", *view.element, {.output = output, .end = size}, 0, budget));
  return field;
}

Field Presenter::tuple(const std::string& name, const std::vector<Operand>& elements, uint32_t depth) {
  if (depth >= limits_.depth) return note(name, "{...}");
  Field field{.name = name, .type = FieldType::kStruct};
  for (size_t i = 0; i < elements.size(); ++i)
    field.members.push_back(show(fmt::format("[{}]", i), elements[i], depth + 1));
  return field;
}

}  // namespace blip::script
