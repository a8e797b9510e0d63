// SPDX-License-Identifier: MIT
#include "x86/flow/syscall_sites.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "x86/flow/liveness.h"

namespace blip::x86 {
namespace {

constexpr size_t kBytesPerPiece = 1 << 20;
constexpr size_t kPatternLength = 7;  // b8 imm32: mov eax, imm32; 0f 05: syscall

bool makes_a_process(uint32_t number) {
  return number == kCloneNumber || number == kForkNumber || number == kVforkNumber || number == kClone3Number;
}

// The next bytes of a `syscall` instruction (0f 05): of any, or behind two zero bytes, as small numbers in a
// mov have.
enum class Syscall { kAny, kBehindZeros };

// Its offset, or the text's size. Sixteen offsets at a time: this runs over every byte of every library.
template <Syscall kWhich>
size_t next_syscall(std::span<const uint8_t> text, size_t from) {
  const __m128i zero = _mm_setzero_si128();
  const __m128i first = _mm_set1_epi8(0x0f);
  const __m128i second = _mm_set1_epi8(0x05);
  const auto load = [&](size_t at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&text[at])); };
  size_t at = kWhich == Syscall::kAny ? from : std::max<size_t>(from, 2);
  for (; at + 17 <= text.size(); at += 16) {
    __m128i hit = _mm_and_si128(_mm_cmpeq_epi8(load(at), first), _mm_cmpeq_epi8(load(at + 1), second));
    if constexpr (kWhich == Syscall::kBehindZeros)
      hit = _mm_and_si128(
          hit, _mm_and_si128(_mm_cmpeq_epi8(load(at - 1), zero), _mm_cmpeq_epi8(load(at - 2), zero)));
    if (const int mask = _mm_movemask_epi8(hit)) return at + static_cast<size_t>(__builtin_ctz(mask));
  }
  for (; at + 2 <= text.size(); ++at)
    if (text[at] == 0x0f && text[at + 1] == 0x05) return at;
  return text.size();
}

template <typename Wanted>
std::optional<SyscallSite> site_at(std::span<const uint8_t> text, TargetAddr base, size_t at, Wanted wanted) {
  const size_t end = at + 2;
  if (end < kPatternLength || text[end - kPatternLength] != 0xb8) return {};
  uint32_t number;
  std::memcpy(&number, &text[end - kPatternLength + 1], sizeof number);
  if (!wanted(number)) return {};
  return SyscallSite{base + end - kPatternLength, number, !flags_live(text, base, base + end)};
}

template <typename Wanted>
std::vector<SyscallSite> find_sites(std::span<const uint8_t> text, TargetAddr base, Wanted wanted,
                                    const std::function<void()>& after_piece = {}) {
  constexpr auto kNext = next_syscall<Syscall::kBehindZeros>;
  std::vector<SyscallSite> sites;
  for (size_t begin = 0; begin < text.size(); begin += kBytesPerPiece) {
    // The second byte may be the first one of the next piece.
    const auto piece = text.first(std::min(text.size(), begin + kBytesPerPiece + 1));
    for (size_t at = kNext(piece, begin); at < piece.size(); at = kNext(piece, at + 1))
      if (const auto site = site_at(text, base, at, wanted)) sites.push_back(*site);
    if (after_piece) after_piece();
  }
  return sites;
}

}  // namespace

std::vector<SyscallSite> find_clone_sites(std::span<const uint8_t> text, TargetAddr base,
                                          const std::function<void()>& after_piece) {
  return find_sites(text, base, makes_a_process, after_piece);
}

std::optional<SyscallSite> find_musl_clone(std::span<const uint8_t> text, TargetAddr base) {
  static constexpr uint8_t kCode[] = {0x31, 0xc0,                    // xor %eax, %eax
                                      0xb0, 0x38,                    // mov $56, %al
                                      0x49, 0x89, 0xfb,              // mov %rdi, %r11
                                      0x48, 0x89, 0xd7,              // mov %rdx, %rdi
                                      0x4c, 0x89, 0xc2,              // mov %r8, %rdx
                                      0x4d, 0x89, 0xc8,              // mov %r9, %r8
                                      0x4c, 0x8b, 0x54, 0x24, 0x08,  // mov 8(%rsp), %r10
                                      0x4d, 0x89, 0xd9,              // mov %r11, %r9
                                      0x48, 0x83, 0xe6, 0xf0,        // and $-16, %rsi
                                      0x48, 0x83, 0xee, 0x08,        // sub $8, %rsi
                                      0x48, 0x89, 0x0e,              // mov %rcx, (%rsi)
                                      0x0f, 0x05,                    // syscall
                                      0x85, 0xc0};                   // test %eax, %eax
  constexpr size_t kJump = sizeof kCode - 7;
  const void* found = ::memmem(text.data(), text.size(), kCode, sizeof kCode);
  if (!found) return {};
  const auto at = static_cast<uint64_t>(static_cast<const uint8_t*>(found) - text.data());
  return SyscallSite{base + at + kJump, kCloneNumber, true, true};
}

std::vector<SyscallSite> find_syscall_sites(std::span<const uint8_t> text, TargetAddr base, uint32_t number) {
  return find_sites(text, base, [&](uint32_t n) { return n == number; });
}

std::optional<SyscallSite> syscall_site_at(std::span<const uint8_t> text, TargetAddr base, TargetAddr at,
                                           std::span<const uint32_t> numbers) {
  return site_at(text, base, at - base,
                 [&](uint32_t n) { return std::find(numbers.begin(), numbers.end(), n) != numbers.end(); });
}

std::vector<TargetAddr> find_syscall_bytes(std::span<const uint8_t> text, TargetAddr base) {
  constexpr auto kNext = next_syscall<Syscall::kAny>;
  std::vector<TargetAddr> found;
  for (size_t at = kNext(text, 0); at < text.size(); at = kNext(text, at + 1)) found.push_back(base + at);
  return found;
}

}  // namespace blip::x86
