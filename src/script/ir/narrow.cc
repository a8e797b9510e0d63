// SPDX-License-Identifier: MIT
//     double   sign | 11 bits of exponent, 1023 is 2^0 | 52 bits
//     float    sign |  8 bits of exponent,  127 is 2^0 | 23 bits
//
// A float that is not too small has the double's bits without the last 29 and another exponent, so that one
// shift makes it of both; what is rounded up may carry into the exponent, as it should. Below 2^-126 floats
// are multiples of 2^-149: as many bits more are shifted out as the exponent is smaller.
#include "script/ir/narrow.h"

namespace blip::script {

namespace {

constexpr uint64_t kSign = uint64_t{1} << 63, kMantissa = (uint64_t{1} << 52) - 1, kOne = uint64_t{1} << 52;
constexpr uint64_t kInfinite = uint64_t{0x7ff} << 52;
constexpr uint64_t kLeastNormal = uint64_t{1023 - 126} << 52;
constexpr uint64_t kOtherExponent = uint64_t{1023 - 127} << 52;
constexpr uint64_t kDropped = 52 - 23;
constexpr uint64_t kInfiniteFloat = 0x7f800000, kNoFloat = 0x7fc00000, kSignOfFloat = 0x80000000;

class Narrower {
 public:
  explicit Narrower(Builder& builder) : b_(builder) {}

  uint32_t run(uint32_t value) {
    const uint32_t size = b_.add(Op::kAnd, value, number(~kSign));
    const uint32_t moved = b_.add(Op::kSub, size, number(kOtherExponent));
    const uint32_t finite =
        select(less(size, kLeastNormal), small(size), without_last(moved, number(kDropped)));
    const uint32_t capped = select(less(finite, kInfiniteFloat), finite, number(kInfiniteFloat));
    const uint32_t all = select(less(size, kInfinite + 1), capped, number(kNoFloat));
    const uint32_t sign = b_.add(Op::kAnd, b_.add(Op::kShr, value, number(32)), number(kSignOfFloat));
    return b_.add(Op::kOr, all, sign);
  }

 private:
  uint32_t number(uint64_t value) { return b_.constant(value); }
  uint32_t less(uint32_t a, uint64_t limit) { return b_.add(Op::kLess, a, number(limit)); }
  uint32_t select(uint32_t test, uint32_t yes, uint32_t no) {
    return b_.add({.op = Op::kSelect, .a = test, .b = yes, .c = no});
  }

  // Rounded to the nearest, or to the even one: half of the last bit that stays is added, less one if it is
  // 0.
  uint32_t without_last(uint32_t bits, uint32_t count) {
    const uint32_t half = b_.add(Op::kShl, number(1), b_.add(Op::kSub, count, number(1)));
    const uint32_t last = b_.add(Op::kAnd, b_.add(Op::kShr, bits, count), number(1));
    const uint32_t more = b_.add(Op::kAdd, b_.add(Op::kSub, half, number(1)), last);
    return b_.add(Op::kShr, b_.add(Op::kAdd, bits, more), count);
  }

  uint32_t small(uint32_t size) {
    const uint32_t bits = b_.add(Op::kOr, b_.add(Op::kAnd, size, number(kMantissa)), number(kOne));
    const uint32_t exponent = b_.add(Op::kShr, size, number(52));
    return without_last(bits, b_.add(Op::kSub, number(kDropped + (kLeastNormal >> 52)), exponent));
  }

  Builder& b_;
};

}  // namespace

uint32_t narrow(Builder& builder, uint32_t value) { return Narrower(builder).run(value); }

}  // namespace blip::script
