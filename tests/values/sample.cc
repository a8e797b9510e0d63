// SPDX-License-Identifier: MIT
// The part that C++ adds, for tests/values.py.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#define NOINLINE [[gnu::noinline]]

extern "C" volatile long sink;
volatile long sink;

namespace shapes {

enum class Kind : unsigned char { kRound = 3, kSquare };

struct Base {
  long id = 1;
  virtual ~Base() = default;
  virtual long area() const { return 0; }
};

struct Other {
  int other = 2;
};

struct Square : Base, Other {
  explicit Square(int side) : side_(side) {}
  NOINLINE long area() const override;
  NOINLINE long scaled(double by, Kind kind) const;

 private:
  int side_;
  unsigned small_ : 4 = 9;
};

long Square::area() const {
  long result = long{side_} * side_;
  sink = sink + (result + small_);
  return result;
}

long Square::scaled(double by, Kind kind) const {
  const long base = area();
  const long result = base + static_cast<int>(kind);
  sink = sink + static_cast<long>(by);
  return result;
}

}  // namespace shapes

struct NonTrivial {
  explicit NonTrivial(int n) : value(n) {}
  NonTrivial(const NonTrivial& from) : value(from.value + 1) {}
  ~NonTrivial() { sink = sink + (value); }
  int value;
};

extern "C" NOINLINE long by_reference(int before, NonTrivial object, const int& reference, int&& moved) {
  long sum = before + object.value;
  sum += reference;
  sum += moved;
  return sum;
}

extern "C" NOINLINE NonTrivial returns_object(int n, long m) {
  NonTrivial result(n + static_cast<int>(m));
  sink = sink + (n);
  return result;
}

extern "C" NOINLINE size_t strings(std::string text, std::string_view view, const std::vector<int>& numbers,
                                   bool yes) {
  size_t length = text.size() + view.size();
  for (int number : numbers) {
    length += static_cast<size_t>(number);
    sink = sink + (static_cast<long>(length));
  }
  return yes ? length : 0;
}

extern "C" NOINLINE int owner(std::unique_ptr<int> pointer, int (*call)(int), char16_t wide) {
  const int value = call(*pointer);
  *pointer = wide;
  return value + *pointer;
}

extern "C" NOINLINE int lambdas(int n) {
  int factor = n + 1;
  auto add = [&](int m) {
    const int here = m * factor;
    sink = sink + (here);
    return here;
  };
  int sum = add(3);
  sum += add(n);
  return sum;
}

template <typename... Numbers>
NOINLINE long variadic_template(Numbers... numbers) {
  long sum = 0;
  ((sum += numbers), ...);
  sink = sink + (sum);
  return sum;
}

extern "C" NOINLINE int catches(int n) {
  try {
    if (n % 2) throw n;
    sink = sink + (n);
  } catch (int caught) {
    const int twice = 2 * caught;
    sink = sink + (twice);
    return twice;
  }
  return n;
}

static int negate(int n) { return -n; }

int main() {
  long sum = 0;
  for (int round = 1; round <= 3; ++round) {
    shapes::Square square(round + 4);
    sum += square.area() + square.scaled(1.5 * round, shapes::Kind::kSquare);
    sum += by_reference(round, NonTrivial(round * 10), round, round + 50);
    sum += returns_object(round, 60).value;
    sum += static_cast<long>(strings("some text", "a view", {round, 2, 3}, true));
    sum += owner(std::make_unique<int>(round), negate, u'x');
    sum += lambdas(round);
    sum += variadic_template(round, 2L, 'c');
    sum += catches(round);
  }
  std::printf("%ld\n", sum);
}
