// SPDX-License-Identifier: MIT
#include "elf/mini_debug.h"

#include <fmt/core.h>
#include <lzma.h>

#include <algorithm>

namespace blip::elf {
namespace {

constexpr uint64_t kDecoderMemory = uint64_t{128} << 20;  // xz -9 needs 65 MiB
constexpr size_t kLargest = size_t{256} << 20;            // chromium's symbols are some 100 MiB
constexpr size_t kFirstGuess = size_t{1} << 20;

class Decoder {
 public:
  Decoder() = default;
  ~Decoder() { lzma_end(&stream_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Result<std::vector<uint8_t>> run(std::span<const uint8_t> packed) {
    if (lzma_stream_decoder(&stream_, kDecoderMemory, 0) != LZMA_OK)
      return Error(ErrorKind::kInvalid, "the xz decoder cannot be started");
    std::vector<uint8_t> out(std::clamp(packed.size() * 4, kFirstGuess, kLargest));
    stream_.next_in = packed.data();
    stream_.avail_in = packed.size();
    for (;;) {
      stream_.next_out = out.data() + stream_.total_out;
      stream_.avail_out = out.size() - stream_.total_out;
      lzma_ret status = lzma_code(&stream_, LZMA_FINISH);
      if (status == LZMA_STREAM_END) break;
      if (status != LZMA_OK || stream_.avail_out != 0)
        return Error(ErrorKind::kInvalid, fmt::format("not valid xz data (liblzma error {})", int{status}));
      if (out.size() == kLargest) return Error(ErrorKind::kInvalid, "unpacks to more than 256 MiB");
      out.resize(std::min(out.size() * 2, kLargest));
    }
    out.resize(stream_.total_out);
    return out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

Result<std::optional<ElfFile>> mini_debug_file(const ElfFile& file) {
  const Section* section = file.find_section(".gnu_debugdata");
  if (!section) return std::optional<ElfFile>();
  const std::string name = file.path() + ": .gnu_debugdata";
  auto image = Decoder().run(file.section_bytes(*section));
  if (!image) return image.error().with_context(name);
  TRY(ElfFile inner, ElfFile::from_bytes(name, *std::move(image)));
  return std::optional(std::move(inner));
}

}  // namespace blip::elf
