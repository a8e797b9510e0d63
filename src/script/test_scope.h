// SPDX-License-Identifier: MIT
// For tests: a program with some types, variables and memory.
#pragma once

#include <cstring>
#include <deque>

#include "script/ir/test_programs.h"
#include "script/types/builtin_types.h"
#include "script/types/scope.h"

namespace blip::script {

class TestTypes {
 public:
  const Type& add(Type type) { return types_.emplace_back(std::move(type)); }
  const Type& pointer(const Type& to) { return add({.kind = TypeKind::kPointer, .size = 8, .target = &to}); }
  const Type& reference(const Type& to) {
    return add({.kind = TypeKind::kReference, .size = 8, .target = &to});
  }
  const Type& array(const Type& of, uint64_t count) {
    return add({.kind = TypeKind::kArray, .size = of.size * count, .target = &of, .count = count});
  }
  const Type& structure(std::string name, uint64_t size, std::vector<Member> members) {
    return add(
        {.kind = TypeKind::kStruct, .name = std::move(name), .size = size, .members = std::move(members)});
  }
  const Type& alias(std::string name, const Type& of) {
    return add({.kind = TypeKind::kTypedef, .name = std::move(name), .size = of.size, .target = &of});
  }

 private:
  std::deque<Type> types_;
};

inline const Type& builtin(std::string_view name) { return *builtin_type(name); }

class TestScope : public Scope {
 public:
  std::vector<Variable> variables;
  std::vector<std::pair<std::string, Variable>> elsewhere;  // by module or file
  std::vector<std::pair<std::string, const Type*>> types;
  const Type* result = nullptr;
  std::string missing;

  void in_memory(const std::string& name, const Type& type, uint64_t address, bool is_parameter = false) {
    Place place{.kind = Place::Kind::kAddress};
    place.code.constant(address);
    variables.push_back({name, &type, place, is_parameter});
  }
  void in_register(const std::string& name, const Type& type, uint64_t number) {
    variables.push_back({name, &type, register_place(number), true});
  }
  static Place register_place(uint64_t number) {
    Place place{.kind = Place::Kind::kValue};
    place.code.add({.op = Op::kRegister, .value = number});
    return place;
  }

  std::optional<Variable> find(std::string_view name) override {
    for (const Variable& v : variables)
      if (v.name == name) return v;
    return std::nullopt;
  }
  std::optional<Variable> find_in(std::string_view where, std::string_view name) override {
    for (const auto& [place, v] : elsewhere)
      if (place == where && v.name == name) return v;
    return std::nullopt;
  }
  const Type* find_type(std::string_view name) override {
    for (const auto& [known, type] : types)
      if (known == name) return type;
    return nullptr;
  }
  std::vector<Variable> parameters() override { return some(true); }
  std::vector<Variable> locals() override { return some(false); }
  const Type* result_type() override { return result; }
  std::string what_is_missing() override { return missing; }

 private:
  std::vector<Variable> some(bool is_parameter) const {
    std::vector<Variable> found;
    for (const Variable& v : variables)
      if (v.is_parameter == is_parameter) found.push_back(v);
    return found;
  }
};

// A request in memory at kRequest, a pointer to it in rdi, and variables of many types.
class TestProgram {
 public:
  static constexpr uint64_t kRequest = 0x10000, kPath = 0x20000, kArray = 0x30000, kGlobals = 0x40000;
  struct Header {
    uint64_t name;
    int32_t size, unused;
  };
  struct Request {
    int32_t id;
    uint32_t bits;  // flags:3, level:5 (signed), rest:24
    uint64_t path;
    Header headers[4];
    char name[16];
    int32_t state;
    int32_t either;  // or a float
    uint64_t next;
    double ratio;
    uint64_t data;
  };

  TestProgram() {
    make_types();
    make_memory();
    make_variables();
  }
  TestProgram(const TestProgram&) = delete;
  TestProgram& operator=(const TestProgram&) = delete;

  TestTypes types;
  TestScope scope;
  TestMachine machine;
  const Type* request = nullptr;
  const Type* state = nullptr;

  template <typename T>
  void put(uint64_t address, const T& value) {
    machine.put(address, &value, sizeof value);
  }

 private:
  void make_types() {
    const Type &number = builtin("int"), &text = types.pointer(builtin("char"));
    state = &types.add({.kind = TypeKind::kEnum,
                        .name = "state",
                        .size = 4,
                        .enumerators = {{"IDLE", 0}, {"RUNNING", 1}, {"DONE", 7}}});
    const Type& header = types.structure("header", 16, {{"name", &text, 0}, {"size", &number, 8}});
    const Type& either = types.add({.kind = TypeKind::kUnion,
                                    .size = 4,
                                    .members = {{"as_int", &number, 0}, {"as_float", &builtin("float"), 0}}});
    const Type& base = types.structure("base", 4, {{"id", &number, 0}});
    Type r{.kind = TypeKind::kStruct, .name = "request", .size = sizeof(Request)};
    auto& self = const_cast<Type&>(types.add(r));
    self.members = {{.name = "base", .type = &base, .is_base = true},
                    {.name = "flags", .type = &builtin("unsigned int"), .offset = 4, .bit_size = 3},
                    {.name = "level", .type = &number, .offset = 4, .bit_offset = 3, .bit_size = 5},
                    {.name = "rest", .type = &builtin("unsigned int"), .offset = 5, .bit_size = 24},
                    {"path", &text, offsetof(Request, path)},
                    {"headers", &types.array(header, 4), offsetof(Request, headers)},
                    {"name", &types.array(builtin("char"), 16), offsetof(Request, name)},
                    {"state", state, offsetof(Request, state)},
                    {"", &either, offsetof(Request, either)},
                    {"next", &types.pointer(self), offsetof(Request, next)},
                    {"ratio", &builtin("double"), offsetof(Request, ratio)},
                    {"data", &types.pointer(builtin("void")), offsetof(Request, data)}};
    request = &self;
    scope.types = {
        {"struct request", request}, {"request", request}, {"enum state", state}, {"number", &number}};
  }

  void make_memory() {
    Request r{};
    r.id = -5;
    r.bits = 5 | (0x1eU << 3) | (0xabcdefU << 8);  // flags 5, level -2
    r.path = kPath;
    for (int i = 0; i < 4; ++i) r.headers[i] = {kPath + 1, 100 + i, 0};
    std::strcpy(r.name, "worker");
    r.state = 7;
    r.either = 0x40200000;  // 2.5
    r.next = kRequest;
    r.ratio = 0.25;
    r.data = kArray;
    put(kRequest, r);
    const char path[256] = "/admin";  // texts are read in pieces
    put(kPath, path);
    const int32_t numbers[] = {10, -20, 30, 40, 50};
    put(kArray, numbers);
    machine.put(kGlobals, std::vector<uint8_t>(64).data(), 64);
    machine.memory[kGlobals][0] = 42;
    machine.registers = {};
    machine.registers[7] = kRequest;
    machine.registers[6] = 0xdeadbeef00000005;  // esi is 5
    machine.registers[2] = kArray;
    machine.registers[0] = 0x1122334455667788;
  }

  void make_variables() {
    scope.in_register("req", types.pointer(*request), 7);
    scope.in_register("n", builtin("int"), 6);
    scope.in_register("numbers", types.pointer(builtin("int")), 2);
    scope.in_memory("copy", *request, kRequest);
    scope.in_memory("array", types.array(builtin("int"), 5), kArray);
    scope.in_memory("global", builtin("long"), kGlobals);
    scope.in_memory("small", builtin("unsigned char"), kGlobals);
    scope.in_memory("self", types.reference(types.pointer(*request)), kGlobals + 8);
    std::memcpy(&machine.memory[kGlobals][8], "\x10\0\x04\0\0\0\0\0", 8);  // a reference to what follows
    std::memcpy(&machine.memory[kGlobals][16], "\0\0\x01\0\0\0\0\0", 8);   // a pointer to the request
    scope.variables.push_back({"gone", &builtin("int"), {}, false});
    // A structure passed in two registers.
    const Type& pair = types.structure(
        "pair", 16,
        {{"x", &builtin("int"), 0}, {"y", &builtin("short"), 4}, {"p", &types.pointer(*request), 8}});
    Place place{.kind = Place::Kind::kPieces};
    place.pieces.push_back({TestScope::register_place(0), 8});
    place.pieces.push_back({TestScope::register_place(7), 8});
    scope.variables.push_back({"pair", &pair, place, false});
    scope.elsewhere.push_back({"server.c", *scope.find("global")});
    scope.elsewhere.push_back({"libx", *scope.find("n")});
  }
};

}  // namespace blip::script
