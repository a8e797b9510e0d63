// SPDX-License-Identifier: MIT
// The kernel or the loader jumps to the entry point, whose code is a few straight instructions:
//
//     glibc   xor %ebp,%ebp ... lea main(%rip),%rdi         PIE             call __libc_start_main
//                               mov $main,%rdi (or %edi)    not PIE
//                               mov main@GOT(%rip),%rdi     linked without relaxation
//     musl    mov %rsp,%rdi ... call _start_c               which sets %rdi as above and calls (or jumps to)
//                                                           __libc_start_main
#include "probe/code/start_code.h"

#include <algorithm>
#include <optional>

#include "elf/bytes.h"
#include "elf/relocations.h"
#include "x86/decode.h"

namespace blip::probe {

namespace {

constexpr int kMostInstructions = 40;
constexpr int kMostCalls = 2;  // _start, _start_c
constexpr uint8_t kRdi = 7;

// Describes the value in %rdi.
struct FirstArgument {
  std::optional<FileAddr> address;  // a constant
  bool is_stack = false;            // where argc, argv and envp lie: all that a C function needs
};

bool starts_with(std::span<const uint8_t> bytes, std::initializer_list<uint8_t> wanted) {
  return bytes.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), bytes.begin());
}

class StartCode {
 public:
  StartCode(const elf::ElfFile& file, std::span<const FileRange> frames) : file_(file), frames_(frames) {}

  std::optional<FileAddr> find_main() const {
    FileAddr at = file_.entry();
    for (int call = 0; call < kMostCalls; ++call) {
      const auto [argument, callee] = follow(at);
      if (argument.address) return accept(*argument.address);
      if (!argument.is_stack || !callee || !file_.is_code(*callee)) return std::nullopt;
      at = *callee;
    }
    return std::nullopt;
  }

 private:
  // Straight on to the first call or jump: what %rdi is there, and where it leads if that is known.
  std::pair<FirstArgument, std::optional<FileAddr>> follow(FileAddr at) const {
    FirstArgument argument;
    for (int i = 0; i < kMostInstructions; ++i) {
      const auto bytes = file_.bytes_from(at);
      const auto insn = x86::decode(bytes, TargetAddr(at.value));
      if (!insn) return {};
      if (insn->flow == x86::Flow::kCall || insn->flow == x86::Flow::kJump)
        return {argument, insn->target ? std::optional(FileAddr(insn->target->value)) : std::nullopt};
      if (insn->flow == x86::Flow::kIndirectCall || insn->flow == x86::Flow::kIndirectJump)
        return {argument, std::nullopt};
      if (insn->flow != x86::Flow::kNext) return {};
      if (auto value = written_to_rdi(*insn, bytes)) argument = *value;
      at = at + insn->length;
    }
    return {};
  }

  std::optional<FirstArgument> written_to_rdi(const x86::Insn& insn, std::span<const uint8_t> bytes) const {
    if (insn.lea_width == 64 && insn.lea_register == kRdi && insn.rip_relative)
      return FirstArgument{.address = FileAddr(insn.rip_target.value)};
    if (starts_with(bytes, {0x48, 0xc7, 0xc7}))  // mov $imm32,%rdi
      return FirstArgument{.address = immediate(bytes.subspan(3))};
    if (starts_with(bytes, {0xbf}))  // mov $imm32,%edi
      return FirstArgument{.address = immediate(bytes.subspan(1))};
    if (starts_with(bytes, {0x48, 0x8b, 0x3d}))  // mov GOT(%rip),%rdi
      return FirstArgument{.address = slot(FileAddr(insn.rip_target.value))};
    if (starts_with(bytes, {0x48, 0x89, 0xe7}))  // mov %rsp,%rdi
      return FirstArgument{.is_stack = true};
    if (starts_with(bytes, {0x5f})) return FirstArgument{};  // pop %rdi
    return std::nullopt;
  }

  static std::optional<FileAddr> immediate(std::span<const uint8_t> bytes) {
    const auto value = elf::load<uint32_t>(bytes, 0);
    return value ? std::optional(FileAddr(*value)) : std::nullopt;
  }

  // The address the loader will put there; without a relocation, what stands there.
  std::optional<FileAddr> slot(FileAddr place) const {
    std::optional<FileAddr> value;
    elf::for_each_stored_pointer(file_, [&](elf::StoredPointer p) {
      if (p.place == place) value = p.value;
    });
    if (value) return value;
    const auto content = elf::load<uint64_t>(file_.bytes({place, place + 8}), 0);
    return content ? std::optional(FileAddr(*content)) : std::nullopt;
  }

  std::optional<FileAddr> accept(FileAddr address) const {
    const bool is_inside = std::any_of(frames_.begin(), frames_.end(), [&](const FileRange& r) {
      return r.contains(address) && r.begin != address;
    });
    return file_.is_code(address) && !is_inside ? std::optional(address) : std::nullopt;
  }

  const elf::ElfFile& file_;
  std::span<const FileRange> frames_;
};

// Up to where unwinding says, else to the next thing known to begin.
elf::Function function_from(std::string_view name, FileAddr address, const elf::ElfFile& file,
                            std::span<const FileRange> frames) {
  elf::Function function{.name = name, .addr = address};
  FileAddr end = address;
  for (const FileRange& code : file.code_ranges())
    if (code.contains(address)) end = code.end;
  for (const FileRange& frame : frames) {
    if (frame.begin == address) {
      function.size = frame.size();
      return function;
    }
    if (frame.begin > address) end = std::min(end, frame.begin);
  }
  function.size = end - address;
  function.size_guessed = true;
  return function;
}

bool has(const elf::SymbolTable& symbols, std::string_view name) {
  return std::any_of(symbols.functions().begin(), symbols.functions().end(),
                     [&](const elf::Function& f) { return f.name == name; });
}

}  // namespace

bool lacks_start_functions(const elf::SymbolTable& symbols) {
  return !has(symbols, "_start") || !has(symbols, "main");
}

StartFunctions find_start_functions(const elf::ElfFile& file, const elf::SymbolTable& symbols,
                                    std::span<const FileRange> frames) {
  StartFunctions result;
  if (!has(symbols, "_start") && file.is_code(file.entry()))
    result.found.push_back(function_from("_start", file.entry(), file, frames));
  if (has(symbols, "main") || file.is_go()) return result;
  if (const auto main = StartCode(file, frames).find_main())
    result.found.push_back(function_from("main", *main, file, frames));
  else
    result.notes.push_back(file.path() +
                           ": main was not found: the code at the entry point is not one blip knows");
  return result;
}

}  // namespace blip::probe
