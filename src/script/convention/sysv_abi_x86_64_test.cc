// SPDX-License-Identifier: MIT
// The compiler that makes this test is the second opinion: it calls a function that keeps all registers and
// the stack as its first instruction finds them, and the places must hold what the call was given.
#include "script/convention/sysv_abi.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>

#include "script/test_place.h"

namespace {

constexpr size_t kStackWords = 48;

struct Captured {
  uint64_t rdi, rsi, rdx, rcx, r8, r9, rsp;
  uint64_t vectors[8][2];
  uint64_t stack[kStackWords];
};

extern "C" {
[[gnu::used]] Captured abi_captured;
void abi_capture();
}

__asm__(
    ".pushsection .text\n"
    ".globl abi_capture\n"
    ".type abi_capture, @function\n"
    "abi_capture:\n"
    "  endbr64\n"
    "  movq abi_captured@GOTPCREL(%rip), %rax\n"
    "  movq %rdi, 0(%rax)\n"
    "  movq %rsi, 8(%rax)\n"
    "  movq %rdx, 16(%rax)\n"
    "  movq %rcx, 24(%rax)\n"
    "  movq %r8, 32(%rax)\n"
    "  movq %r9, 40(%rax)\n"
    "  movq %rsp, 48(%rax)\n"
    "  movups %xmm0, 56(%rax)\n"
    "  movups %xmm1, 72(%rax)\n"
    "  movups %xmm2, 88(%rax)\n"
    "  movups %xmm3, 104(%rax)\n"
    "  movups %xmm4, 120(%rax)\n"
    "  movups %xmm5, 136(%rax)\n"
    "  movups %xmm6, 152(%rax)\n"
    "  movups %xmm7, 168(%rax)\n"
    "  leaq 184(%rax), %rdi\n"
    "  movq %rsp, %rsi\n"
    "  movl $48, %ecx\n"
    "  rep movsq\n"
    "  movq abi_captured@GOTPCREL(%rip), %rax\n"
    "  movq 0(%rax), %rax\n"  // a result in memory is there
    "  ret\n"
    ".size abi_capture, .-abi_capture\n"
    ".popsection\n");

}  // namespace

namespace blip::script {
namespace {

class CapturedMachine : public Machine {
 public:
  uint64_t general(unsigned n) const override {
    const Captured& c = abi_captured;
    const uint64_t registers[] = {0, c.rcx, c.rdx, 0, c.rsp, 0, c.rsi, c.rdi, c.r8, c.r9};
    return n < std::size(registers) ? registers[n] : 0;
  }
  uint64_t vector(unsigned n, bool high) const override { return n < 8 ? abi_captured.vectors[n][high] : 0; }
  uint64_t flags() const override { return 0; }
  uint64_t thread_pointer() const override { return 0; }
  bool read(uint64_t address, void* to, size_t bytes) const override {
    const uint64_t offset = address - abi_captured.rsp;
    const auto* from = reinterpret_cast<const uint8_t*>(address);
    if (offset < sizeof(abi_captured.stack))
      from = reinterpret_cast<const uint8_t*>(abi_captured.stack) + offset;
    std::memcpy(to, from, bytes);
    return true;
  }
  uint64_t result() const override { return 0; }
  uint64_t latency() const override { return 0; }
  uint64_t depth() const override { return 0; }
  uint64_t tail() const override { return 0; }
  std::optional<uint64_t> entry_value(uint64_t) const override { return std::nullopt; }
};

// Types as debugging information would tell them.
std::deque<Type> types;

const Type& scalar(TypeKind kind, uint64_t size) {
  return types.emplace_back(Type{.kind = kind, .name = "scalar", .size = size});
}

struct Field {
  const Type& type;
  uint64_t offset;
  uint8_t bit_offset = 0, bit_size = 0;
};

const Type& aggregate(uint64_t size, std::initializer_list<Field> fields, TypeKind kind = TypeKind::kStruct) {
  Type& type = types.emplace_back(Type{.kind = kind, .name = "aggregate", .size = size});
  for (const Field& f : fields)
    type.members.push_back({.name = "m",
                            .type = &f.type,
                            .offset = f.offset,
                            .bit_offset = f.bit_offset,
                            .bit_size = f.bit_size});
  return type;
}

const Type& array(const Type& element, uint64_t count, const char* name = "") {
  return types.emplace_back(Type{.kind = TypeKind::kArray,
                                 .name = name,
                                 .size = element.size * count,
                                 .target = &element,
                                 .count = count});
}

const Type& Int8 = scalar(TypeKind::kChar, 1);
const Type& Int16 = scalar(TypeKind::kInt, 2);
const Type& Int = scalar(TypeKind::kInt, 4);
const Type& Long = scalar(TypeKind::kInt, 8);
const Type& Wide = scalar(TypeKind::kInt, 16);
const Type& Pointer = scalar(TypeKind::kPointer, 8);
const Type& Float = scalar(TypeKind::kFloat, 4);
const Type& Double = scalar(TypeKind::kFloat, 8);
const Type& LongDouble = scalar(TypeKind::kFloat, 16);

struct Pair {
  long a;
  long b;
};
struct Mixed {
  int a;
  float b;
  double c;
};
struct Floats {
  float a, b, c;
};
struct Big {
  long a[5];
};
struct Small {
  char a;
  short b;
};
struct Bits {
  unsigned a : 20;
  unsigned b : 12;
  double c;
};
struct [[gnu::packed]] Packed {
  char a;
  long b;
};
struct Extended {
  long double a;
};
union Either {
  float a;
  int b;
};
struct Text {
  char a[12];
};
struct Empty {};
using Vector = float __attribute__((vector_size(16)));
struct NonTrivial {
  explicit NonTrivial(long n) : a(n) {}
  NonTrivial(const NonTrivial& other) : a(other.a) {}
  ~NonTrivial() { a = 0; }
  long a;
};

const Type& kPair = aggregate(16, {{Long, 0}, {Long, 8}});
const Type& kMixed = aggregate(16, {{Int, 0}, {Float, 4}, {Double, 8}});
const Type& kFloats = aggregate(12, {{Float, 0}, {Float, 4}, {Float, 8}});
const Type& kBig = aggregate(40, {{array(Long, 5), 0}});
const Type& kSmall = aggregate(4, {{Int8, 0}, {Int16, 2}});
const Type& kBits = aggregate(16, {{Int, 0, 0, 20}, {Int, 0, 20, 12}, {Double, 8}});
const Type& kPacked = aggregate(9, {{Int8, 0}, {Long, 1}});
const Type& kExtended = aggregate(16, {{LongDouble, 0}});
const Type& kEither = aggregate(4, {{Float, 0}, {Int, 0}}, TypeKind::kUnion);
const Type& kText = aggregate(12, {{array(Int8, 12), 0}});
const Type& kEmpty = aggregate(1, {});
const Type& kVector = array(Float, 4, "vector");
const Type& kNonTrivial = aggregate(8, {{Long, 0}});

template <typename T>
void expect_same(const Place& place, const T& value, size_t index) {
  constexpr size_t size = std::is_same_v<T, long double> ? 10 : sizeof(T);
  const auto bytes = bytes_at(place, size, CapturedMachine());
  ASSERT_TRUE(bytes) << "argument " << index;
  EXPECT_EQ(std::memcmp(bytes->data(), &value, size), 0) << "argument " << index;
}

// Calls the function that captures with `values` and looks for them where their types say.
template <typename Result, typename... Values>
void check(AbiValue result, std::vector<AbiValue> arguments, const Values&... values) {
  reinterpret_cast<Result (*)(Values...)> (&abi_capture)(values...);
  const auto places = argument_places({.result = result, .arguments = std::move(arguments)});
  ASSERT_EQ(places.size(), sizeof...(Values));
  size_t index = 0;
  (..., (expect_same(places[index], values, index), ++index));
}

AbiValue of(const Type& type) { return {.type = &type}; }

TEST(SysvAbi, integers_in_registers_then_on_the_stack) {
  check<void>({},
              {of(Int), of(Int8), of(Long), of(Pointer), of(Int16), of(Long), of(Int), of(Int8), of(Long)}, 1,
              'b', 3L, static_cast<void*>(&abi_captured), short{5}, 6L, 7, 'h', 9L);
}

TEST(SysvAbi, floats_beside_integers) {
  check<void>({}, {of(Float), of(Int), of(Double), of(LongDouble), of(Long), of(Float)}, 1.5f, 2, 3.5, 4.5L,
              5L, 6.5f);
}

TEST(SysvAbi, the_ninth_float_is_on_the_stack) {
  check<void>({}, std::vector<AbiValue>(10, of(Double)), 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.);
}

TEST(SysvAbi, structures_by_their_eightbytes) {
  check<void>({}, {of(kPair), of(kMixed), of(kFloats), of(kSmall)}, Pair{1, 2}, Mixed{3, 4, 5},
              Floats{6, 7, 8}, Small{'a', 9});
  check<void>({}, {of(kBits), of(kEither), of(kText), of(kVector)}, Bits{1, 2, 3}, Either{.a = 4},
              Text{"some text"}, Vector{1, 2, 3, 4});
}

TEST(SysvAbi, structures_in_memory) {
  check<void>({}, {of(Int), of(kBig), of(kPacked), of(kExtended), of(Int)}, 1, Big{{1, 2, 3, 4, 5}},
              Packed{'p', 77}, Extended{2.5L}, 2);
}

TEST(SysvAbi, a_pair_that_finds_one_register_leaves_it_to_others) {
  check<void>({}, {of(Long), of(Long), of(Long), of(Long), of(Long), of(kPair), of(Long)}, 1L, 2L, 3L, 4L, 5L,
              Pair{6, 7}, 8L);
}

// This calls code of the compiler that built the test. clang aligns such integers since version 18 only.
TEST(SysvAbi, wide_integers_are_aligned_on_the_stack) {
#if defined(__clang__) && __clang_major__ < 18
  GTEST_SKIP() << "this compiler puts them anywhere";
#endif
  __extension__ typedef __int128 Int128;
  check<void>({}, {of(Long), of(Wide), of(Long), of(Long), of(Wide), of(Long), of(Wide)}, 1L, Int128{2}, 3L,
              4L, Int128{5}, 6L, Int128{7});
  check<void>({}, {of(Wide), of(Wide), of(Wide), of(Long), of(Wide)}, Int128{1}, Int128{2}, Int128{3}, 4L,
              Int128{5});
}

TEST(SysvAbi, a_result_in_memory_takes_the_first_register) {
  check<Big>(of(kBig), {of(Int), of(Long)}, 1, 2L);
  check<Pair>(of(kPair), {of(Int), of(Long)}, 1, 2L);
}

TEST(SysvAbi, types_with_their_own_copies_come_by_reference) {
  const AbiValue value{.type = &kNonTrivial, .passing = AbiValue::Passing::kByReference};
  const NonTrivial object(42);
  reinterpret_cast<void (*)(long, const NonTrivial&, long)> (&abi_capture)(1, object, 2);
  const auto places = argument_places({.arguments = {of(Long), value, of(Long)}});
  expect_same(places[1], object, 1);
  expect_same(places[2], 2L, 2);
}

TEST(SysvAbi, an_empty_structure_takes_no_room) {
  reinterpret_cast<void (*)(Empty, int)> (&abi_capture)(Empty{}, 5);
  const auto places = argument_places({.arguments = {of(kEmpty), of(Int)}});
  EXPECT_EQ(places[0].kind, Place::Kind::kOptimizedOut);
  expect_same(places[1], 5, 1);
}

TEST(SysvAbi, behind_what_is_not_known_nothing_is) {
  const Type unknown{.size = 8};
  const AbiValue doubtful{.type = &kPair, .passing = AbiValue::Passing::kNotKnown};
  for (const AbiValue& bad : {of(unknown), doubtful, AbiValue{}}) {
    const auto places = argument_places({.arguments = {of(Int), bad, of(Int)}});
    EXPECT_EQ(places[0].kind, Place::Kind::kValue);
    EXPECT_EQ(places[1].kind, Place::Kind::kOptimizedOut);
    EXPECT_EQ(places[2].kind, Place::Kind::kOptimizedOut);
  }
  EXPECT_EQ(argument_places({.result = doubtful, .arguments = {of(Int)}})[0].kind,
            Place::Kind::kOptimizedOut);
}

TEST(SysvAbi, other_languages_agree_on_scalars_only) {
  const auto places =
      argument_places({.arguments = {of(kPair), of(Double), of(kFloats), of(Int)}, .is_rust = true});
  EXPECT_EQ(places[0].kind, Place::Kind::kPieces);
  EXPECT_EQ(places[1].kind, Place::Kind::kValue);
  EXPECT_EQ(places[2].kind, Place::Kind::kOptimizedOut);
  EXPECT_EQ(places[3].kind, Place::Kind::kOptimizedOut);
}

TEST(SysvAbi, results) {
  EXPECT_EQ(result_place(of(Int)).code.nodes.back().op, Op::kResult);
  EXPECT_EQ(result_place(of(Float)).code.nodes.back(), (Node{.op = Op::kVector, .width = 4}));
  EXPECT_EQ(result_place(of(kBig)).kind, Place::Kind::kAddress);
  EXPECT_EQ(result_place(of(LongDouble)).kind, Place::Kind::kOptimizedOut);
  const Place pair = result_place(of(kPair));
  ASSERT_EQ(pair.pieces.size(), 2u);
  EXPECT_EQ(pair.pieces[1].place.code.nodes.back(), (Node{.op = Op::kRegister, .value = 2}));
  const Place mixed = result_place(of(kMixed));
  ASSERT_EQ(mixed.pieces.size(), 2u);
  EXPECT_EQ(mixed.pieces[0].place.code.nodes.back().op, Op::kResult);
  EXPECT_EQ(mixed.pieces[1].place.code.nodes.back(), (Node{.op = Op::kVector, .value = 0}));
}

TEST(SysvAbi, a_structure_that_holds_itself_ends) {
  Type ring{.kind = TypeKind::kStruct, .name = "ring", .size = 16};
  ring.members.push_back({.name = "self", .type = &ring});
  EXPECT_EQ(argument_places({.arguments = {of(ring)}})[0].kind, Place::Kind::kOptimizedOut);
}

}  // namespace
}  // namespace blip::script
