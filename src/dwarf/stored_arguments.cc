// SPDX-License-Identifier: MIT
#include "dwarf/stored_arguments.h"

#include <gelf.h>

#include <algorithm>

#include "x86/registers.h"

namespace blip::dwarf {

using script::Op;
using script::Place;

namespace {

constexpr uint64_t kWord = 8;

Place in_register(const script::Node& node) {
  Place place{.kind = Place::Kind::kValue};
  place.code.add(node);
  return place;
}

void add_pieces(const x86::ArgumentStore& store, Place& into) {
  if (!store.is_vector) {
    into.pieces.push_back({in_register({.op = Op::kRegister, .value = store.reg}), store.size});
    return;
  }
  const auto low = static_cast<uint8_t>(std::min<uint64_t>(store.size, kWord));
  into.pieces.push_back({in_register({.op = Op::kVector, .width = low, .value = store.reg}), low});
  if (store.size > kWord)
    into.pieces.push_back({in_register({.op = Op::kVectorHigh, .value = store.reg}),
                           static_cast<uint32_t>(store.size - kWord)});
}

}  // namespace

std::span<const uint8_t> code_at(Elf* elf, FileAddr at) {
  constexpr uint64_t kLongest = 512;
  size_t size = 0, count = 0;
  const char* file = elf ? ::elf_rawfile(elf, &size) : nullptr;
  if (!file || ::elf_getphdrnum(elf, &count) != 0) return {};
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (!::gelf_getphdr(elf, static_cast<int>(i), &segment) || segment.p_type != PT_LOAD) continue;
    const uint64_t in = at.value - segment.p_vaddr;
    if (at.value < segment.p_vaddr || in >= segment.p_filesz || segment.p_offset > size) continue;
    if (in >= size - segment.p_offset) continue;
    const uint64_t length = std::min({kLongest, segment.p_filesz - in, size - segment.p_offset - in});
    return {reinterpret_cast<const uint8_t*>(file) + segment.p_offset + in, length};
  }
  return {};
}

StoredArguments::StoredArguments(Elf* program, FileAddr entry, bool base_is_register)
    : prologue_(x86::argument_stores(code_at(program, entry))), base_is_register_(base_is_register) {
  std::sort(prologue_.stores.begin(), prologue_.stores.end(),
            [](const auto& a, const auto& b) { return a.at < b.at; });
}

const x86::ArgumentStore* StoredArguments::stored_at(int64_t at) const {
  for (const x86::ArgumentStore& s : prologue_.stores)
    if (s.at == at && s.size == kWord && !s.is_vector) return &s;
  return nullptr;
}

StoredArguments::Meaning StoredArguments::of_register(uint64_t reg) const {
  using Kind = Meaning::Kind;
  if (!base_is_register_) return reg == x86::kRsp ? Meaning{Kind::kFrame, 0} : Meaning{};
  const auto offset = reg == x86::kRsp ? prologue_.rsp : reg == x86::kRbp ? prologue_.rbp : std::nullopt;
  return offset ? Meaning{Kind::kFrame, *offset} : Meaning{};
}

StoredArguments::Meaning StoredArguments::of_node(const script::Node& node,
                                                  const std::vector<Meaning>& before) const {
  using Kind = Meaning::Kind;
  if (node.op == Op::kConstant) return {Kind::kNumber, static_cast<int64_t>(node.value)};
  if (node.op == Op::kRegister) return of_register(node.value);
  if (node.op == Op::kAdd) {
    const Meaning &a = before[node.a], &b = before[node.b];
    if (a.kind == Kind::kNone || b.kind != Kind::kNumber || a.kind == Kind::kArgument) return {};
    return {a.kind, static_cast<int64_t>(static_cast<uint64_t>(a.value) + static_cast<uint64_t>(b.value))};
  }
  if (node.op == Op::kLoad && node.width == kWord && before[node.a].kind == Kind::kFrame)
    if (const auto* store = stored_at(before[node.a].value)) return {Kind::kArgument, store->reg};
  return {};
}

StoredArguments::Meaning StoredArguments::meaning(const script::Code& code) const {
  std::vector<Meaning> all;
  for (const script::Node& node : code.nodes) all.push_back(of_node(node, all));
  return all.empty() ? Meaning{} : all.back();
}

// All of a value by what was stored of it; what lies between is its padding.
Place StoredArguments::gather(int64_t at, uint64_t size) const {
  constexpr uint64_t kLargest = 64;
  if (size == 0 || size > kLargest) return {};
  const int64_t end = at + static_cast<int64_t>(size);
  Place place{.kind = Place::Kind::kPieces};
  int64_t next = at;
  for (const x86::ArgumentStore& s : prologue_.stores) {
    if (s.at + s.size <= at || s.at >= end) continue;
    if (s.at < next || s.at + s.size > end) return {};
    if (s.at > next) place.pieces.push_back({Place{}, static_cast<uint32_t>(s.at - next)});
    add_pieces(s, place);
    next = s.at + s.size;
  }
  if (place.pieces.empty()) return {};
  if (next < end) place.pieces.push_back({Place{}, static_cast<uint32_t>(end - next)});
  return place.pieces.size() == 1 ? std::move(place.pieces[0].place) : place;
}

Place StoredArguments::unchanged(const Place& later, uint64_t distance) const {
  const auto& nodes = later.code.nodes;
  if (later.kind != Place::Kind::kAddress && later.kind != Place::Kind::kValue) return {};
  if (nodes.size() != 1 || nodes[0].op != Op::kRegister || nodes[0].value == x86::kRsp) return {};
  return nodes[0].value < prologue_.unchanged.size() && prologue_.unchanged[nodes[0].value] >= distance
             ? later
             : Place{};
}

Place StoredArguments::place(const Place& behind, uint64_t size) const {
  if (behind.kind != Place::Kind::kAddress) return {};
  const Meaning found = meaning(behind.code);
  if (found.kind == Meaning::Kind::kFrame) return gather(found.value, size);
  if (found.kind != Meaning::Kind::kArgument) return {};
  Place place{.kind = Place::Kind::kAddress};
  place.code.add({.op = Op::kRegister, .value = static_cast<uint64_t>(found.value)});
  return place;
}

}  // namespace blip::dwarf
