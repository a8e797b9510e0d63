// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace blip {

// Keeps results that take long to make in files of the user's cache directory. A file that is found is whole
// and was kept under this name and version; any other file counts as missing. Only the user may read the
// directory and its files.
class FileCache {
 public:
  // $XDG_CACHE_HOME/blip, else ~/.cache/blip. None with BLIP_CACHE=off, or without a home.
  static Result<FileCache> of_user();
  explicit FileCache(std::string directory) : path_(std::move(directory)) {}

  // `name`: letters, digits, '-' and '.', not at its beginning.
  std::optional<std::vector<uint8_t>> find(const std::string& name, uint32_t version) const;
  // Makes the directory, and the one around it, if need be. An error says why nothing can be kept.
  Status prepare() const;
  // Replaces the file of that name, at once or not at all. If all files take more than kMostBytes, those go
  // that were not used for longest.
  Status keep(const std::string& name, uint32_t version, std::span<const uint8_t> bytes) const;

  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;
  // For tests.
  Status shrink_to(uint64_t most_bytes) const;

 private:
  Result<Fd> directory(bool make) const;

  std::string path_;
};

}  // namespace blip
