// SPDX-License-Identifier: MIT
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"

namespace blip {

// Owns a memory mapping of this process.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Mapping() {
    if (data_) ::munmap(data_, size_);
  }

  // Calls mmap(2) and lets the kernel choose the address; fails with the errno of mmap.
  static Result<Mapping> create(size_t size, int prot, int flags, int fd, off_t offset);

  // For a file that is only read: its pages do not count as this process's memory until they are read
  // again.
  void release_pages() const {
    if (data_) ::madvise(data_, size_, MADV_DONTNEED);
  }

  uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  size_t size() const { return size_; }
  std::span<uint8_t> bytes() const { return {data(), size_}; }

 private:
  Mapping(void* data, size_t size) : data_(data), size_(size) {}

  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace blip
