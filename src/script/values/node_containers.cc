// SPDX-License-Identifier: MIT
#include "script/values/node_containers.h"

#include <fmt/core.h>

#include "script/types/alignment.h"
#include "script/types/members.h"
#include "script/types/type_names.h"

namespace blip::script {

namespace {

using collect::Where;

constexpr uint64_t kWord = 8;

// Finds the parts of a container by the names of its members.
class Parts {
 public:
  Parts(const Type& whole, TypeArena& types) : whole_(whole), types_(types) {}

  const Type& whole() const { return whole_; }
  TypeArena& types() const { return types_; }

  // Through all layers; `in`: only what is in the member of that name.
  std::optional<uint32_t> offset(std::string_view name, std::string_view in = {}) const {
    const auto found = find(name, in);
    return found ? std::optional(static_cast<uint32_t>(found->offset)) : std::nullopt;
  }
  std::optional<FoundMember> find(std::string_view name, std::string_view in = {}) const {
    if (in.empty()) return find_member_within(whole_, name);
    const auto outer = find_member_within(whole_, in);
    if (!outer) return std::nullopt;
    auto inner = find_member_within(*outer->member->type, name);
    if (inner) inner->offset += outer->offset;
    return inner;
  }
  // libc++ wraps numbers in pairs, whose first is a base class.
  std::optional<uint32_t> number(std::string_view name) const {
    const auto found = find(name);
    if (!found) return std::nullopt;
    if (!is_aggregate(resolve(*found->member->type))) return static_cast<uint32_t>(found->offset);
    return offset("__value_", name);
  }
  // The type that the member of that name was made with.
  const Type* argument(std::string_view member, size_t index) const {
    const auto found = find(member);
    return found ? argument(*found->member->type, index) : nullptr;
  }
  const Type* argument(size_t index) const { return argument(whole_, index); }

 private:
  static const Type* argument(const Type& type, size_t index) {
    const Type& t = resolve(type);
    return index < t.arguments.size() ? t.arguments[index] : nullptr;
  }

  const Type& whole_;
  TypeArena& types_;
};

uint32_t round_up(uint64_t n, uint64_t to) { return static_cast<uint32_t>((n + to - 1) / to * to); }

bool is_complete(const Type* type) { return type && resolve(*type).size != 0; }

std::optional<NodeContainer> container(collect::Step step, const Type* element, uint64_t header) {
  if (!is_complete(element)) return std::nullopt;
  step.value_offset = round_up(header, alignment_of(*element));
  step.stride = static_cast<uint32_t>(resolve(*element).size);
  NodeContainer found{.step = step, .element = element};
  if (step.b != collect::kNoSize) found.size_offset = step.b;
  return found;
}

// libc++ hides the pair in a wrapper, whose type need not be told.
const Type* unwrapped(const Parts& parts, const Type* value, bool is_map) {
  if (!is_map) return value;
  if (is_complete(value)) {
    for (const char* name : {"__cc_", "__cc"})
      if (const auto pair = find_member(*value, name)) return pair->member->type;
  }
  const Type *key = parts.argument(0), *mapped = parts.argument(1);
  if (!is_complete(key) || !is_complete(mapped)) return nullptr;
  return &parts.types().pair_of(*key, *mapped);
}

std::optional<NodeContainer> tree(const Parts& p, bool is_map) {
  if (const auto header = p.offset("_M_header")) {
    const auto left = p.offset("_M_left", "_M_header"), right = p.offset("_M_right", "_M_header"),
               parent = p.offset("_M_parent", "_M_header"), size = p.offset("_M_node_count");
    if (!left || !right || !parent || !size) return std::nullopt;
    collect::Step step{.where = Where::kTree, .a = *left, .b = *size, .c = *header};
    step.left_offset = *left - *header;
    step.right_offset = *right - *header;
    step.parent_offset = *parent - *header;
    return container(step, p.argument("_M_t", 1), 4 * kWord);
  }
  const auto begin = p.offset("__begin_node_");
  auto end = p.offset("__left_", "__pair1_");
  if (!end) end = p.offset("__end_node_");
  auto size = p.number("__pair3_");
  if (!size) size = p.number("__size_");
  if (!begin || !end || !size) return std::nullopt;
  constexpr uint64_t kColor = 3 * kWord + 1;  // the last member of a node's base, whose padding is used
  collect::Step step{.where = Where::kTree, .a = *begin, .b = *size, .c = *end};
  step.right_offset = kWord;
  step.parent_offset = 2 * kWord;
  return container(step, unwrapped(p, p.argument("__tree_", 0), is_map), kColor);
}
std::optional<NodeContainer> map(const Parts& p) { return tree(p, true); }
std::optional<NodeContainer> set(const Parts& p) { return tree(p, false); }

std::optional<NodeContainer> hashed(const Parts& p, bool is_map) {
  collect::Step step{.where = Where::kChain, .c = collect::kNoSize};
  if (const auto first = p.offset("_M_nxt", "_M_before_begin")) {
    const auto size = p.offset("_M_element_count");
    if (!size) return std::nullopt;
    step.a = *first;
    step.b = *size;
    return container(step, p.argument("_M_h", 1), kWord);
  }
  auto first = p.offset("__next_", "__p1_");
  if (!first) first = p.offset("__next_", "__first_node_");
  auto size = p.number("__p2_");
  if (!size) size = p.number("__size_");
  if (!first || !size) return std::nullopt;
  step.a = *first;
  step.b = *size;
  return container(step, unwrapped(p, p.argument("__table_", 0), is_map), 2 * kWord);  // link and hash
}
std::optional<NodeContainer> hashed_map(const Parts& p) { return hashed(p, true); }
std::optional<NodeContainer> hashed_set(const Parts& p) { return hashed(p, false); }

std::optional<NodeContainer> list(const Parts& p) {
  collect::Step step{.where = Where::kChain};
  if (const auto node = p.offset("_M_node")) {
    const auto next = p.offset("_M_next", "_M_node"), size = p.offset("_M_size");
    if (!next) return std::nullopt;
    step.a = *next;
    step.b = size.value_or(collect::kNoSize);  // before C++11 there is none
    step.c = *node;
    step.next_offset = *next - *node;
  } else {
    const auto end = p.offset("__end_"), first = p.offset("__next_", "__end_");
    auto size = p.number("__size_alloc_");
    if (!size) size = p.number("__size_");
    if (!end || !first || !size) return std::nullopt;
    step.a = *first;
    step.b = *size;
    step.c = *end;
    step.next_offset = *first - *end;
  }
  return container(step, p.argument(0), 2 * kWord);
}

std::optional<NodeContainer> forward_list(const Parts& p) {
  auto first = p.offset("_M_next", "_M_head");
  if (!first) first = p.offset("__next_", "__before_begin_");
  if (!first) return std::nullopt;
  return container({.where = Where::kChain, .a = *first, .b = collect::kNoSize, .c = collect::kNoSize},
                   p.argument(0), kWord);
}

std::optional<NodeContainer> deque(const Parts& p) {
  const Type* element = p.argument(0);
  if (!is_complete(element)) return std::nullopt;
  const auto start = p.offset("_M_start"), finish = p.offset("_M_finish");
  if (start && finish && p.offset("_M_node", "_M_start")) {
    auto found = container({.where = Where::kBlocks, .a = *start, .b = *finish}, element, 0);
    if (found) found->size_offset.reset();
    return found;
  }
  const auto map = p.offset("__begin_", "__map_"), first = p.offset("__start_"), size = p.number("__size_");
  if (!map || !first || !size) return std::nullopt;
  constexpr uint32_t kBlock = 4096, kLarge = 256, kFew = 16;
  const auto bytes = static_cast<uint32_t>(resolve(*element).size);
  collect::Step step{.where = Where::kIndexed, .a = *map, .b = *first, .c = *size};
  step.count = bytes < kLarge ? kBlock / bytes : kFew;
  auto found = container(step, element, 0);
  if (found) found->size_offset = *size;
  return found;
}

struct Row {
  std::string_view name;
  std::optional<NodeContainer> (*find)(const Parts&);
};
constexpr Row kRows[] = {{"map", map},
                         {"multimap", map},
                         {"set", set},
                         {"multiset", set},
                         {"unordered_map", hashed_map},
                         {"unordered_multimap", hashed_map},
                         {"unordered_set", hashed_set},
                         {"unordered_multiset", hashed_set},
                         {"list", list},
                         {"forward_list", forward_list},
                         {"deque", deque}};

}  // namespace

std::optional<NodeContainer> find_node_container(const Type& type, TypeArena& types) {
  const Type& t = resolve(type);
  if (!is_aggregate(t)) return std::nullopt;
  const std::string_view name = bare_name(t.name);
  for (const Row& row : kRows)
    if (row.name == name) return row.find(Parts(t, types));
  return std::nullopt;
}

}  // namespace blip::script
