// SPDX-License-Identifier: MIT
// For tests/values.py: what the variables of a stopped process hold, as blip finds them. Requests are lines
//     FILE_PC IS_ENTRY LOAD_BIAS PID FS_BASE rax rcx ... r15 xmm0_low xmm0_high ...    (hex without 0x)
// and the answer is the function's name, then "parameter|local PATH VALUE" for each scalar part ("out", or "gone" with its frame:
// none), then a dot.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "script/test_place.h"
#include "session/plan/scopes.h"

namespace {

using namespace blip;
using script::Type;
using script::TypeKind;

class Stopped final : public script::Machine {
 public:
  pid_t pid = 0;
  uint64_t fs_base = 0;
  std::array<uint64_t, 16> registers{};
  std::array<std::array<uint64_t, 2>, 16> vectors{};

  uint64_t general(unsigned n) const override { return registers.at(n); }
  uint64_t vector(unsigned n, bool high) const override { return vectors.at(n)[high]; }
  uint64_t flags() const override { return 0; }
  uint64_t thread_pointer() const override { return fs_base; }
  bool read(uint64_t address, void* to, size_t bytes) const override {
    iovec local{to, bytes}, remote{reinterpret_cast<void*>(address), bytes};
    return ::process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
  }
  uint64_t result() const override { return 0; }
  uint64_t latency() const override { return 0; }
  uint64_t depth() const override { return 0; }
  uint64_t tail() const override { return 0; }
  std::optional<uint64_t> entry_value(uint64_t) const override { return std::nullopt; }
};

constexpr uint64_t kMostElements = 4;
constexpr int kDeepest = 8;

class Printer {
 public:
  Printer(const char* what, const std::vector<std::optional<uint8_t>>& bytes) : what_(what), bytes_(bytes) {}

  void print(const Type& named, const std::string& path, uint64_t offset, int depth = 0) {
    const Type& type = script::resolve(named);
    if (depth > kDeepest) return;
    switch (type.kind) {
      case TypeKind::kStruct:
      case TypeKind::kUnion:
        for (const script::Member& member : type.members) {
          const std::string inner = member.name.empty() ? path : path + "." + member.name;
          if (member.bit_size)
            print_bits(inner, offset + member.offset, member.bit_offset, member.bit_size);
          else
            print(*member.type, inner, offset + member.offset, depth + 1);
        }
        return;
      case TypeKind::kArray:
        for (uint64_t i = 0; i < std::min(type.count.value_or(0), kMostElements); ++i)
          print(*type.target, path + "[" + std::to_string(i) + "]",
                offset + i * script::resolve(*type.target).size, depth + 1);
        return;
      case TypeKind::kUnknown:
      case TypeKind::kFunction:
      case TypeKind::kVoid:
        return;
      default:
        return print_bits(path, offset, 0,
                          type.kind == TypeKind::kFloat && type.size == 16 ? 64 : type.size * 8);
    }
  }

 private:
  void print_bits(const std::string& path, uint64_t offset, unsigned first, uint64_t bits) {
    const uint64_t end = offset + (first + bits + 7) / 8;
    if (end > bytes_.size() || bits > 128) return;
    unsigned __int128 value = 0;
    for (uint64_t i = std::min<uint64_t>(end, offset + sizeof(value)); i-- > offset;) {
      if (!bytes_[i]) {
        std::printf("%s %s out\n", what_, path.c_str());
        return;
      }
      value = value << 8 | *bytes_[i];
    }
    value >>= first;
    if (bits < 128) value &= (static_cast<unsigned __int128>(1) << bits) - 1;
    std::printf("%s %s %llx", what_, path.c_str(), static_cast<unsigned long long>(value));
    std::printf("%s\n", value >> 64 ? "+" : "");
  }

  const char* what_;
  std::vector<std::optional<uint8_t>> bytes_;
};

// Byte by byte, because some of a structure may be optimized out.
std::vector<std::optional<uint8_t>> known_bytes(const script::Place& place, size_t size,
                                                const script::Machine& machine) {
  std::vector<std::optional<uint8_t>> result;
  if (place.kind == script::Place::Kind::kPieces) {
    for (const script::Place::Piece& piece : place.pieces) {
      const auto part = known_bytes(piece.place, piece.size, machine);
      result.insert(result.end(), part.begin(), part.end());
    }
  } else if (const auto bytes = script::bytes_at(place, size, machine)) {
    result.assign(bytes->begin(), bytes->end());
  }
  result.resize(size);
  return result;
}

void print(const script::Variable& variable, const char* what, const script::Machine& machine) {
  constexpr uint64_t kLargest = 4096;
  const uint64_t size = script::resolve(*variable.type).size;
  if (size == 0 || size > kLargest) return;
  const script::Place& place = variable.place;
  if (place.kind == script::Place::Kind::kValue && place.code.nodes.size() == 1 &&
      place.code.nodes[0].op == script::Op::kConstant)
    std::printf("constant %s 1\n", variable.name.c_str());
  const auto bytes = known_bytes(place, size, machine);
  const bool is_gone = place.why == Unknown::kFrameGone;
  if (std::none_of(bytes.begin(), bytes.end(), [](const auto& byte) { return byte.has_value(); }))
    std::printf("%s %s %s\n", what, variable.name.c_str(), is_gone ? "gone" : "out");
  else
    Printer(what, bytes).print(*variable.type, variable.name, 0);
}

// How far behind its own addresses the file is mapped, by its code.
std::optional<uint64_t> bias_of(const probe::Module& module, const proc::Map& map) {
  constexpr uint64_t kPage = 4096;
  for (const elf::Segment& segment : module.file().segments())
    if (segment.exec && segment.offset.value / kPage == map.offset / kPage)
      return map.range.begin.value - segment.range.begin.value / kPage * kPage;
  return std::nullopt;
}

// The process that gdb has stopped, as blip sees it: a scope asks the other modules, too.
class Debugged {
 public:
  explicit Debugged(pid_t pid) : pid_(pid) { store_.share_root(true); }

  // Null: no such module is loaded there. Modules may have come since the last time.
  std::unique_ptr<script::Scope> scope_at(const std::string& module, uint64_t bias, FileAddr pc,
                                          bool is_entry) {
    for (const bool has_looked : {false, true}) {
      for (size_t i = 0; i < modules_.size(); ++i)
        if (modules_[i].bias() == bias && modules_[i].basename() == module)
          return scopes_->at(
              {.module = i, .point = {.addr = pc, .function = {.addr = is_entry ? pc : FileAddr()}}});
      if (!has_looked) look();
    }
    return nullptr;
  }

 private:
  void look() {
    modules_.clear();
    const auto maps = proc::read_maps(pid_);
    if (!maps) return;
    for (const proc::Map& map : *maps) {
      if (!map.exec || !map.path.starts_with('/')) continue;
      auto module = probe::Module::of_file(map.path);
      const auto bias = module ? bias_of(*module, map) : std::nullopt;
      if (bias) modules_.push_back(module->moved_to(*bias));
    }
    scopes_.emplace(modules_, store_);
  }

  pid_t pid_;
  session::DebugStore store_;
  std::vector<probe::Module> modules_;
  std::optional<session::Scopes> scopes_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string module = std::filesystem::path(argc > 1 ? argv[1] : "").filename();
  std::optional<Debugged> debugged;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    Stopped machine;
    FileAddr pc;
    bool is_entry = false;
    uint64_t bias = 0;
    words >> std::hex >> pc.value >> is_entry >> bias >> std::dec >> machine.pid >> std::hex >>
        machine.fs_base;
    for (uint64_t& value : machine.registers) words >> value;
    for (auto& vector : machine.vectors) words >> vector[0] >> vector[1];
    if (!debugged) debugged.emplace(machine.pid);
    const auto scope = debugged->scope_at(module, bias, pc, is_entry);
    if (!scope) {
      std::fprintf(stderr, "%s is not loaded\n", module.c_str());
      return 1;
    }
    for (const script::Variable& v : scope->parameters()) print(v, "parameter", machine);
    for (const script::Variable& v : scope->locals()) print(v, "local", machine);
    std::puts(".");
    std::fflush(stdout);
  }
}
