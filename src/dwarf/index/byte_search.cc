// SPDX-License-Identifier: MIT
#include "dwarf/index/byte_search.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <mutex>

#include "base/parallel.h"

namespace blip::dwarf {

namespace {

constexpr size_t kPiece = 4 << 20;
constexpr size_t kWord = sizeof(uint32_t);
constexpr size_t kFew = 4;  // values that are compared one by one

uint32_t word_at(const uint8_t* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, kWord);
  return word;
}

using Found = std::vector<uint64_t>;

// Four loads, each a byte further, hold all words that begin in 4 bytes: 16 places at once.
using Words = uint32_t __attribute__((vector_size(16)));  // GCC's and clang's vectors, for any processor
using Equal = int32_t __attribute__((vector_size(16)));
using Halves = uint64_t __attribute__((vector_size(16)));

bool any_in_block(const uint8_t* at, const std::vector<uint32_t>& values) {
  Equal equal{};
  for (int shift = 0; shift < 4; ++shift) {
    Words words;
    std::memcpy(&words, at + shift, sizeof words);
    for (uint32_t value : values) equal |= words == value;
  }
  const auto halves = reinterpret_cast<Halves>(equal);
  return (halves[0] | halves[1]) != 0;
}

void add_words(std::span<const uint8_t> bytes, size_t begin, size_t end, const std::vector<uint32_t>& values,
               Found& found) {
  for (size_t i = begin; i < end; ++i)
    if (std::binary_search(values.begin(), values.end(), word_at(&bytes[i]))) found.push_back(i);
}

void find_few(std::span<const uint8_t> bytes, size_t begin, size_t end, const std::vector<uint32_t>& values,
              Found& found) {
  constexpr size_t kBlock = 16;
  size_t i = begin;
  for (; i + kBlock <= end && i + kBlock + kWord <= bytes.size(); i += kBlock)
    if (any_in_block(&bytes[i], values)) add_words(bytes, i, i + kBlock, values, found);
  add_words(bytes, i, end, values, found);
}

void find_many(std::span<const uint8_t> bytes, size_t begin, size_t end, const std::vector<uint32_t>& values,
               const std::bitset<1 << 16>& low_halves, Found& found) {
  for (size_t i = begin; i < end; ++i)
    if (low_halves[word_at(&bytes[i]) & 0xffff] &&
        std::binary_search(values.begin(), values.end(), word_at(&bytes[i])))
      found.push_back(i);
}

// Runs `find` over all places, in pieces [begin, end) on all CPUs, and returns what it added, sorted.
template <typename Find>
Found find_in_pieces(size_t places, Find find) {
  std::mutex mutex;
  Found all;
  parallel_pieces(places, kPiece, [&](size_t begin, size_t end) {
    Found found;
    find(begin, end, found);
    const std::lock_guard lock(mutex);
    all.insert(all.end(), found.begin(), found.end());
  });
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::vector<uint64_t> find_words(std::span<const uint8_t> bytes, std::vector<uint32_t> values) {
  if (values.empty() || bytes.size() < kWord) return {};
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::bitset<1 << 16> low_halves;
  for (uint32_t value : values) low_halves.set(value & 0xffff);
  return find_in_pieces(bytes.size() - kWord + 1, [&](size_t begin, size_t end, Found& found) {
    if (values.size() <= kFew)
      find_few(bytes, begin, end, values, found);
    else
      find_many(bytes, begin, end, values, low_halves, found);
  });
}

std::vector<uint64_t> find_text(std::span<const uint8_t> bytes, std::string_view text) {
  if (text.empty() || bytes.size() < text.size()) return {};
  return find_in_pieces(bytes.size() - text.size() + 1, [&](size_t begin, size_t end, Found& found) {
    const uint8_t* const last = bytes.data() + end + text.size() - 1;
    for (const uint8_t* at = bytes.data() + begin;;) {
      at =
          static_cast<const uint8_t*>(::memmem(at, static_cast<size_t>(last - at), text.data(), text.size()));
      if (!at) break;
      found.push_back(static_cast<uint64_t>(at - bytes.data()));
      ++at;
    }
  });
}

}  // namespace blip::dwarf
