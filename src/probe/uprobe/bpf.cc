// SPDX-License-Identifier: MIT
#include "probe/uprobe/bpf.h"

#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace blip::probe {

namespace {

constexpr uint32_t kLogSize = 16 << 10;
constexpr char kLicense[] = "MIT";

long bpf(bpf_cmd command, bpf_attr& attr) { return ::syscall(SYS_bpf, command, &attr, sizeof attr); }

uint64_t pointer(const void* p) { return reinterpret_cast<uintptr_t>(p); }

}  // namespace

Result<BpfMap> BpfMap::create(bpf_map_type type, uint32_t key_size, uint32_t value_size, uint32_t entries) {
  bpf_attr attr{};
  attr.map_type = type;
  attr.key_size = key_size;
  attr.value_size = value_size;
  attr.max_entries = entries;
  BpfMap map;
  map.fd_ = Fd(static_cast<int>(bpf(BPF_MAP_CREATE, attr)));
  if (!map.fd_) return Error::from_errno(errno, "a BPF map");
  return map;
}

Status BpfMap::update(const void* key, const void* value) const {
  bpf_attr attr{};
  attr.map_fd = static_cast<uint32_t>(fd());
  attr.key = pointer(key);
  attr.value = pointer(value);
  if (bpf(BPF_MAP_UPDATE_ELEM, attr) != 0) return Error::from_errno(errno, "a BPF map's entry");
  return {};
}

Status BpfMap::lookup(const void* key, void* value) const {
  bpf_attr attr{};
  attr.map_fd = static_cast<uint32_t>(fd());
  attr.key = pointer(key);
  attr.value = pointer(value);
  if (bpf(BPF_MAP_LOOKUP_ELEM, attr) != 0) return Error::from_errno(errno, "a BPF map's entry");
  return {};
}

void BpfCode::add(int code, uint8_t to, uint8_t from, int16_t offset, int32_t value) {
  bpf_insn insn{};
  insn.code = static_cast<uint8_t>(code);
  insn.dst_reg = to & 15;
  insn.src_reg = from & 15;
  insn.off = offset;
  insn.imm = value;
  code_.push_back(insn);
}

// The one instruction that takes two slots.
void BpfCode::move_wide(uint8_t to, uint64_t value, uint8_t pseudo) {
  add(BPF_LD | BPF_DW | BPF_IMM, to, pseudo, 0, static_cast<int32_t>(value));
  add(0, 0, 0, 0, static_cast<int32_t>(value >> 32));
}

void BpfCode::move_map(uint8_t to, const BpfMap& map) {
  move_wide(to, static_cast<uint32_t>(map.fd()), BPF_PSEUDO_MAP_FD);
}

void BpfCode::atomic_add64(uint8_t base, int16_t offset, uint8_t from) {
  add(BPF_STX | BPF_XADD | BPF_DW, base, from, offset, BPF_ADD);
}

BpfCode::Label BpfCode::jump(int condition, uint8_t reg, int32_t value) {
  add(BPF_JMP | condition | BPF_K, reg, 0, 0, value);
  return code_.size() - 1;
}

void BpfCode::place(Label label) { code_[label].off = static_cast<int16_t>(code_.size() - label - 1); }

Result<Fd> BpfCode::load(const char* name, uint32_t attach_type) const {
  std::vector<char> log(kLogSize);
  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_KPROBE;
  attr.insns = pointer(code_.data());
  attr.insn_cnt = static_cast<uint32_t>(code_.size());
  attr.license = pointer(kLicense);
  attr.expected_attach_type = attach_type;
  std::strncpy(attr.prog_name, name, sizeof attr.prog_name - 1);
  Fd fd(static_cast<int>(bpf(BPF_PROG_LOAD, attr)));
  if (fd) return fd;
  const Error plain = Error::from_errno(errno, "the BPF program");
  if (plain.kind() == ErrorKind::kPermission) return plain;
  // Once more, for the kernel's reason.
  attr.log_level = 1;
  attr.log_size = kLogSize;
  attr.log_buf = pointer(log.data());
  fd.reset(static_cast<int>(bpf(BPF_PROG_LOAD, attr)));
  if (fd) return fd;
  return Error(plain.kind(), fmt::format("{}: {}", plain.message(), log.data()), plain.errno_value());
}

// The kernel's headers of Debian 12 do not know this part of bpf_attr yet.
struct LinkUprobes {
  uint32_t program;
  uint32_t target = 0;
  uint32_t attach_type = kUprobeMulti;
  uint32_t link_flags = 0;
  uint64_t path;
  uint64_t offsets;
  uint64_t ref_ctr_offsets = 0;
  uint64_t cookies = 0;
  uint32_t count;
  uint32_t flags = 0;
  uint32_t pid;
  uint32_t padding = 0;
};
static_assert(sizeof(LinkUprobes) == 64);

Result<Fd> link_uprobes(const Fd& program, const std::string& path, const std::vector<uint64_t>& offsets,
                        int pid) {
  LinkUprobes link{.program = static_cast<uint32_t>(program.get()),
                   .path = pointer(path.c_str()),
                   .offsets = pointer(offsets.data()),
                   .count = static_cast<uint32_t>(offsets.size()),
                   .pid = static_cast<uint32_t>(pid)};
  Fd fd(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link)));
  if (!fd) return Error::from_errno(errno, "uprobes in " + path);
  return fd;
}

Result<BpfRing> BpfRing::create(uint32_t size) {
  BpfRing ring;
  ring.size_ = size;
  TRY(ring.map_, BpfMap::create(BPF_MAP_TYPE_RINGBUF, 0, 0, size));
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  TRY(ring.consumer_, Mapping::create(page, PROT_READ | PROT_WRITE, MAP_SHARED, ring.map_.fd(), 0));
  TRY(ring.producer_, Mapping::create(page + 2 * size_t{size}, PROT_READ, MAP_SHARED, ring.map_.fd(),
                                      static_cast<off_t>(page)));
  return ring;
}

}  // namespace blip::probe
