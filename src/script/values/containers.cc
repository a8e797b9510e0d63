// SPDX-License-Identifier: MIT
#include "script/values/containers.h"

#include <algorithm>
#include <charconv>

#include "script/types/members.h"
#include "script/types/type_names.h"
#include "script/values/node_containers.h"

namespace blip::script {

namespace {

using Kind = Operand::Kind;

// "i32" of "Vec<i32, alloc::alloc::Global>".
std::string_view first_argument(std::string_view name) {
  const size_t open = name.find('<');
  if (open == std::string_view::npos) return {};
  int depth = 0;
  for (size_t i = open; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth == 0 || (depth == 1 && name[i] == ',')) return name.substr(open + 1, i - open - 1);
  }
  return {};
}

// 2 of "pair<int, vector<int, A> >".
size_t count_arguments(std::string_view name) {
  size_t count = 0;
  int depth = 0;
  for (const char c : name) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if ((c == '<' || c == ',') && depth == 1) ++count;
  }
  return count;
}

struct Context {
  Access& access;
  const Operand& whole;
  const FindType& find_type;

  std::string_view name() const { return resolve(*whole.type).name; }

  std::optional<Operand> inside(const Operand& from, std::string_view member) const {
    const auto found = find_member_within(*from.type, member);
    if (!found) return std::nullopt;
    if (found->member->bit_size == 0) return access.part(from, found->offset, *found->member->type);
    // A bit-field is a member of something that is found by its own members' names.
    Operand field = access.part(from, found->offset, *found->member->type);
    field.bit_offset = found->member->bit_offset;
    field.bit_size = found->member->bit_size;
    return field;
  }
  // Through wrappers that call what they hold by the same name.
  std::optional<Operand> inside(std::string_view member) const {
    constexpr int kLayers = 4;
    auto found = inside(whole, member);
    for (int i = 0; i < kLayers && found && is_aggregate(resolve(*found->type)); ++i) {
      auto inner = inside(*found, member);
      if (!inner) break;
      found = std::move(inner);
    }
    return found;
  }

  std::optional<uint32_t> number(const std::optional<Operand>& operand) const {
    if (!operand) return std::nullopt;
    const auto node = access.number(*operand);
    return node ? std::optional(*node) : std::nullopt;
  }

  const Type* target(const std::optional<Operand>& pointer) const {
    if (!pointer) return nullptr;
    const Type& type = resolve(*pointer->type);
    return type.kind == TypeKind::kPointer ? type.target : nullptr;
  }

  // From members of these names.
  std::optional<View> view(std::string_view data, std::string_view length) const {
    const auto pointer = inside(data);
    const auto first = number(pointer), count = number(inside(length));
    if (!first || !count || !target(pointer)) return std::nullopt;
    return View{.data = *first, .length = *count, .element = target(pointer)};
  }

  std::optional<View> between(std::string_view begin, std::string_view end) const {
    const auto pointer = inside(begin);
    const auto first = number(pointer), last = number(inside(end));
    const Type* element = target(pointer);
    if (!first || !last || !element) return std::nullopt;
    const uint64_t size = resolve(*element).size;
    if (size == 0) return std::nullopt;
    Builder& b = access.builder();
    const uint32_t bytes = b.add(Op::kSub, *last, *first);
    return View{.data = *first, .length = b.add(Op::kDiv, bytes, b.constant(size)), .element = element};
  }
};

std::optional<View> as_text(std::optional<View> view) {
  if (view) view->is_text = true;
  return view;
}

// libc++ keeps short ones in the object; which it is says the lowest bit of its first byte.
std::optional<View> libcxx_string(const Context& c) {
  const auto large = c.inside("__l"), small = c.inside("__s");
  if (!large || !small) return std::nullopt;
  Builder& b = c.access.builder();
  const auto data = c.inside(*large, "__data_"), text = c.inside(*small, "__data_");
  const auto long_data = c.number(data), long_size = c.number(c.inside(*large, "__size_"));
  const auto first_byte = c.number(c.access.part(*small, 0, int_type(1, false)));
  if (!long_data || !long_size || !first_byte || !text || text->kind != Kind::kMemory || !c.target(data))
    return std::nullopt;
  const uint32_t is_long = b.add(Op::kAnd, *first_byte, b.constant(1));
  const uint32_t short_size = b.add(Op::kShr, *first_byte, b.constant(1));
  const auto select = [&](uint32_t yes, uint32_t no) {
    return b.add({.op = Op::kSelect, .a = is_long, .b = yes, .c = no});
  };
  return View{.data = select(*long_data, text->node),
              .length = select(*long_size, short_size),
              .element = c.target(data),
              .is_text = true};
}

// libstdc++ before C++11: the length lies before the text.
std::optional<View> shared_string(const Context& c) {
  const auto pointer = c.inside("_M_p");
  const auto data = c.number(pointer);
  if (!data || !c.target(pointer)) return std::nullopt;
  constexpr uint64_t kLengthBefore = 24;
  Builder& b = c.access.builder();
  const uint32_t at = b.add(Op::kSub, *data, b.constant(kLengthBefore));
  return View{.data = *data, .length = b.load(at, 8), .element = c.target(pointer), .is_text = true};
}

std::optional<View> string(const Context& c) {
  const std::string_view of = first_argument(c.name());
  if (!of.empty() && of != "char") return std::nullopt;
  if (auto view = as_text(c.view("_M_p", "_M_string_length"))) return view;
  if (auto view = libcxx_string(c)) return view;
  if (auto view = as_text(c.view("str", "len"))) return view;  // Go's
  return shared_string(c);
}

std::optional<View> string_view(const Context& c) {
  const std::string_view of = first_argument(c.name());
  if (!of.empty() && of != "char") return std::nullopt;
  if (auto view = as_text(c.view("_M_str", "_M_len"))) return view;
  if (auto view = as_text(c.view("__data_", "__size_"))) return view;
  return as_text(c.view("__data", "__size"));
}

std::optional<View> vector(const Context& c) {
  if (auto view = c.between("_M_start", "_M_finish")) return view;
  return c.between("__begin_", "__end_");
}

// "3" of "span<int, 3ul>"; none: there is no number.
std::optional<uint64_t> last_number(std::string_view name) {
  const size_t comma = name.rfind(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const size_t begin = name.find_first_not_of(' ', comma + 1);
  uint64_t number = 0;
  if (begin == std::string_view::npos ||
      std::from_chars(name.data() + begin, name.data() + name.size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

// How many a type of its own says, if it says so.
std::optional<View> span(const Context& c) {
  if (auto view = c.view("_M_ptr", "_M_extent_value")) return view;
  if (auto view = c.view("__data_", "__size_")) return view;
  if (auto view = c.view("__data", "__size")) return view;
  std::optional<Operand> pointer;
  for (const std::string_view name : {"_M_ptr", "__data_", "__data"})
    if (!pointer) pointer = c.inside(name);
  const auto first = c.number(pointer);
  const auto count = last_number(c.name());
  if (!first || !count || *count == UINT64_MAX || !c.target(pointer)) return std::nullopt;
  return View{.data = *first, .length = c.access.builder().constant(*count), .element = c.target(pointer)};
}

// Rust. What the buffer's pointer is called, and to what it points, depends on the version.
std::optional<View> rust_vec(const Context& c) {
  if (!c.inside("buf") || !find_member(*c.whole.type, "len")) return std::nullopt;
  auto view = c.view("pointer", "len");
  if (!view) return std::nullopt;
  const std::string_view of = first_argument(c.name());
  if (of.empty() || of == "u8") return view;
  view->element = resolve(*view->element).size == 1 ? c.find_type(of) : view->element;
  return view->element ? view : std::nullopt;
}

std::optional<View> rust_string(const Context& c) {
  const auto vec = c.inside("vec");
  if (!vec) return std::nullopt;
  return as_text(rust_vec({c.access, *vec, c.find_type}));
}

std::optional<View> go_string(const Context& c) { return as_text(c.view("str", "len")); }

struct ViewRow {
  std::string_view name;
  std::optional<View> (*find)(const Context&);
};
constexpr ViewRow kViews[] = {
    {"basic_string", string}, {"string", string},   {"basic_string_view", string_view},
    {"vector", vector},       {"span", span},       {"String", rust_string},
    {"Vec", rust_vec},        {"string", go_string}};

std::optional<View> find_by_name(const Context& c) {
  const std::string_view name = c.name();
  if (name == "&str" || name == "&mut str") return as_text(c.view("data_ptr", "length"));
  if (name.starts_with("&[") || name.starts_with("&mut [")) return c.view("data_ptr", "length");
  if (name.starts_with("[]")) return c.view("array", "len");
  for (const ViewRow& row : kViews)
    if (bare_name(name) == row.name)
      if (auto view = row.find(c)) return view;
  return std::nullopt;
}

std::optional<Operand> first_pointer(const Context& c, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const auto found = find_pointer_within(*c.whole.type, name))
      return c.access.part(c.whole, found->offset, *found->member->type);
  return std::nullopt;
}

}  // namespace

std::optional<View> find_view(Access& access, const Operand& operand, const FindType& find_type, int levels) {
  if (levels <= 0) return std::nullopt;
  if (operand.kind == Kind::kSlice)
    return View{operand.node, operand.length, operand.type, is_character(*operand.type)};
  if (operand.kind == Kind::kText || operand.kind == Kind::kOptimizedOut) return std::nullopt;
  const Type& type = resolve(*operand.type);
  // Rust's references are pointers by another name.
  if (type.kind == TypeKind::kPointer && type.name.starts_with('&')) {
    const auto target = access.dereference(operand);
    return target ? find_view(access, *target, find_type, levels - 1) : std::nullopt;
  }
  return is_aggregate(type) ? find_by_name({access, operand, find_type}) : std::nullopt;
}

std::optional<Optional> find_optional(Access& access, const Operand& operand) {
  const FindType none;
  const Context c{access, operand, none};
  if (!is_aggregate(resolve(*operand.type)) || bare_name(c.name()) != "optional") return std::nullopt;
  auto has_value = c.inside("_M_engaged"), value = c.inside("_M_value");
  if (!has_value || !value) {
    has_value = c.inside("__engaged_");
    value = c.inside("__val_");
  }
  if (!has_value || !value) return std::nullopt;
  return Optional{*std::move(has_value), *std::move(value)};
}

namespace {

bool is_class(const Operand& operand) {
  return operand.kind != Kind::kText && operand.kind != Kind::kSlice && operand.kind != Kind::kOptimizedOut &&
         operand.type && is_aggregate(resolve(*operand.type));
}

}  // namespace

std::optional<Operand> find_std_array(Access& access, const Operand& operand) {
  if (!is_class(operand)) return std::nullopt;
  const FindType none;
  const Context c{access, operand, none};
  if (bare_name(c.name()) != "array") return std::nullopt;
  auto elements = c.inside(c.whole, "_M_elems");
  if (!elements) elements = c.inside(c.whole, "__elems_");
  return elements && resolve(*elements->type).kind == TypeKind::kArray ? elements : std::nullopt;
}

namespace {

// The members of that name, in the order of the base classes that have them.
std::vector<Operand> all_called(Access& access, const Operand& whole, std::string_view name) {
  std::vector<Operand> found;
  for (const FoundMember& m : members_of(resolve(*whole.type)))
    if (m.member->name == name && m.member->bit_size == 0)
      found.push_back(access.part(whole, m.offset, *m.member->type));
  return found;
}

}  // namespace

// Each element is in a base class of its own: libstdc++ has the first one in the last of them; libc++ has them in order, in a
// member of the tuple.
std::optional<std::vector<Operand>> find_tuple(Access& access, const Operand& operand) {
  if (!is_class(operand)) return std::nullopt;
  const Type& type = resolve(*operand.type);
  if (bare_name(type.name) != "tuple") return std::nullopt;
  std::vector<Operand> elements = all_called(access, operand, "_M_head_impl");
  std::reverse(elements.begin(), elements.end());
  if (const auto base = find_member(type, "__base_"); base && is_aggregate(resolve(*base->member->type)))
    elements = all_called(access, access.part(operand, base->offset, *base->member->type), "__value_");
  if (elements.size() != count_arguments(type.name)) return std::nullopt;  // those without a size are bases
  return elements;
}

std::optional<uint32_t> find_size(Access& access, const Operand& operand, const FindType& find_type) {
  if (const auto view = find_view(access, operand, find_type)) return view->length;
  if (const auto array = find_std_array(access, operand))
    return access.builder().constant(resolve(*array->type).count.value_or(0));
  if (operand.kind != Kind::kMemory) return std::nullopt;
  const auto nodes = find_node_container(*operand.type, access.types());
  if (!nodes || !nodes->size_offset) return std::nullopt;
  Builder& b = access.builder();
  return b.load(b.add(Op::kAdd, operand.node, b.constant(*nodes->size_offset)), sizeof(uint64_t));
}

std::optional<Operand> find_owned(Access& access, const Operand& operand) {
  const FindType none;
  const Context c{access, operand, none};
  if (operand.kind == Kind::kText || operand.kind == Kind::kSlice || !is_aggregate(resolve(*operand.type)))
    return std::nullopt;
  const std::string_view name = bare_name(c.name());
  if (name == "unique_ptr") return first_pointer(c, {"_M_head_impl", "__ptr_", "__value_"});
  if (name == "shared_ptr" || name == "__shared_ptr") return first_pointer(c, {"_M_ptr", "__ptr_"});
  return std::nullopt;
}

}  // namespace blip::script
