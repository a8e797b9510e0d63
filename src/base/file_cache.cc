// SPDX-License-Identifier: MIT
// Files are written under a name of their own and renamed: nobody sees half of one. They are read, not
// mapped: a mapped file that somebody cuts is a SIGBUS.
#include "base/file_cache.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/directory.h"

namespace blip {

namespace {

constexpr char kMagic[8] = {'b', 'l', 'i', 'p', 'k', 'e', 'p', 't'};
constexpr char kUnfinished[] = ".new-";
constexpr time_t kAbandoned = 3600;   // seconds; nobody writes for so long
constexpr time_t kUsedToday = 86400;  // the time of the last use is as exact as this
constexpr uint64_t kMostRead = 1 << 30;

struct Header {
  char magic[8];
  uint64_t size;
  uint64_t checksum;  // of the name, the version and the bytes
};

uint64_t mix(uint64_t hash, const uint8_t* data, size_t size) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t lanes[4] = {hash, ~hash, hash ^ kFactor, size};  // one after the other would wait for each product
  uint64_t words[4];
  for (; size >= sizeof(words); data += sizeof(words), size -= sizeof(words)) {
    std::memcpy(words, data, sizeof(words));
    for (int i = 0; i < 4; ++i) lanes[i] = (lanes[i] ^ words[i]) * kFactor ^ lanes[i] >> 31;
  }
  std::memset(words, 0, sizeof(words));
  if (size) std::memcpy(words, data, size);
  for (int i = 0; i < 4; ++i) hash = (hash ^ lanes[i] ^ words[i]) * kFactor ^ hash >> 29;
  return hash;
}

uint64_t checksum(const std::string& name, uint32_t version, std::span<const uint8_t> bytes) {
  const uint64_t start = mix(version, reinterpret_cast<const uint8_t*>(name.data()), name.size());
  return mix(start, bytes.data(), bytes.size());
}

bool is_ours_alone(const struct stat& about) {
  return about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool read_all(int fd, void* data, size_t size) {
  auto* at = static_cast<uint8_t*>(data);
  while (size > 0) {
    const ssize_t got = ::read(fd, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int fd, const void* data, size_t size) {
  const auto* at = static_cast<const uint8_t*>(data);
  while (size > 0) {
    const ssize_t put = ::write(fd, at, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= static_cast<size_t>(put);
  }
  return true;
}

std::string new_name() {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) number = static_cast<uint64_t>(::getpid());
  return kUnfinished + std::to_string(number);
}

// Gone when it is not needed any more, or not wanted.
class NewFile {
 public:
  explicit NewFile(int directory) : directory_(directory), name_(new_name()) {
    fd_.reset(::openat(directory, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       S_IRUSR | S_IWUSR));
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (fd_) ::unlinkat(directory_, name_.c_str(), 0);
  }
  int fd() const { return fd_.get(); }
  bool rename_to(const std::string& name) {
    if (::renameat(directory_, name_.c_str(), directory_, name.c_str()) != 0) return false;
    fd_.reset();
    return true;
  }

 private:
  int directory_;
  std::string name_;
  Fd fd_;
};

Result<std::string> cache_home() {
  const char* wanted = ::secure_getenv("BLIP_CACHE");
  if (wanted && std::strcmp(wanted, "off") == 0) return Error(ErrorKind::kNotFound, "BLIP_CACHE is off");
  const char* cache = ::secure_getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') return std::string(cache);
  const char* home = ::secure_getenv("HOME");
  if (!home || *home != '/') return Error(ErrorKind::kNotFound, "there is no home directory");
  return std::string(home) + "/.cache";
}

// Root in the home directory of somebody else leaves nothing there.
Status check_owner(int fd, const std::string& path) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return Error::from_errno(errno, path);
  if (!is_ours_alone(about))
    return Error(ErrorKind::kPermission, path + " belongs to another user, or others may write to it");
  return {};
}

Result<Fd> open_directory(int parent, const std::string& path, int flags) {
  Fd fd(::openat(parent, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
  if (!fd) return Error::from_errno(errno, path);
  TRY_OK(check_owner(fd.get(), path));
  return fd;
}

}  // namespace

Result<FileCache> FileCache::of_user() {
  TRY(const std::string home, cache_home());
  return FileCache(home + "/blip");
}

Result<Fd> FileCache::directory(bool make) const {
  const std::filesystem::path path(path_), home = path.parent_path();
  if (make && ::mkdir(home.c_str(), S_IRWXU) != 0 && errno != EEXIST) return Error::from_errno(errno, home);
  TRY(const Fd parent, open_directory(AT_FDCWD, home, 0));
  if (make && ::mkdirat(parent.get(), path.filename().c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return Error::from_errno(errno, path_);
  return open_directory(parent.get(), path.filename(), O_NOFOLLOW);
}

Status FileCache::prepare() const {
  TRY(const Fd directory, this->directory(true));
  if (::faccessat(directory.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) return Error::from_errno(errno, path_);
  return {};
}

std::optional<std::vector<uint8_t>> FileCache::find(const std::string& name, uint32_t version) const {
  const auto directory = this->directory(false);
  if (!directory) return std::nullopt;
  const Fd fd(::openat(directory->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!fd || ::fstat(fd.get(), &about) != 0) return std::nullopt;
  if (!S_ISREG(about.st_mode) || !is_ours_alone(about)) return std::nullopt;
  Header header;
  const auto size = static_cast<uint64_t>(about.st_size);
  if (size < sizeof(header) || size > kMostRead || !read_all(fd.get(), &header, sizeof(header)))
    return std::nullopt;
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.size != size - sizeof(header))
    return std::nullopt;
  std::vector<uint8_t> bytes(header.size);
  if (!read_all(fd.get(), bytes.data(), bytes.size())) return std::nullopt;
  if (header.checksum != checksum(name, version, bytes)) return std::nullopt;
  if (::time(nullptr) - about.st_mtime > kUsedToday) ::futimens(fd.get(), nullptr);
  return bytes;
}

Status FileCache::keep(const std::string& name, uint32_t version, std::span<const uint8_t> bytes) const {
  TRY(const Fd directory, this->directory(true));
  NewFile file(directory.get());
  Header header{.magic = {}, .size = bytes.size(), .checksum = checksum(name, version, bytes)};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  if (file.fd() < 0 || !write_all(file.fd(), &header, sizeof(header)) ||
      !write_all(file.fd(), bytes.data(), bytes.size()) || !file.rename_to(name))
    return Error::from_errno(errno, name);
  return shrink_to(kMostBytes);
}

Status FileCache::shrink_to(uint64_t most_bytes) const {
  struct Kept {
    time_t used;
    uint64_t size;
    std::string name;
  };
  TRY(const Fd directory, this->directory(false));
  TRY(const std::vector<std::string> names, list_directory(".", directory.get()));
  std::vector<Kept> files;
  uint64_t total = 0;
  for (const std::string& name : names) {
    struct stat about {};
    if (::fstatat(directory.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(about.st_mode)) continue;
    if (name.starts_with(kUnfinished)) {
      if (::time(nullptr) - about.st_mtime > kAbandoned) ::unlinkat(directory.get(), name.c_str(), 0);
      continue;
    }
    files.push_back({about.st_mtime, static_cast<uint64_t>(about.st_size), name});
    total += files.back().size;
  }
  std::sort(files.begin(), files.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& file : files) {
    if (total <= most_bytes) break;
    if (::unlinkat(directory.get(), file.name.c_str(), 0) == 0) total -= file.size;
  }
  return {};
}

}  // namespace blip
