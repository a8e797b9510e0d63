// SPDX-License-Identifier: MIT
// A slot says what it was bound to only if it was: a lazily bound one holds the address of its own PLT entry
// until the first call, an IRELATIVE one what the linker left there until the loader came by. Both stand in
// the file too, so a slot that still has its first content, moved by the load bias or not, is not bound.
#include "probe/code/ifunc.h"

#include <algorithm>
#include <unordered_map>

#include "elf/bytes.h"
#include "elf/relocations.h"

namespace blip::probe {

namespace {

class Search {
 public:
  Search(std::span<const Ifunc> ifuncs, std::span<const Module> modules, const proc::Memory& memory)
      : ifuncs_(ifuncs), modules_(modules), memory_(memory), found_(ifuncs.size()) {
    for (size_t i = 0; i < ifuncs.size(); ++i) by_name_[ifuncs[i].function.name].push_back(i);
  }

  std::vector<std::vector<FileAddr>> run() {
    for (size_t m = 0; m < modules_.size(); ++m)
      elf::for_each_function_slot(modules_[m].file(),
                                  [&](const elf::FunctionSlot& slot) { look_at(m, slot); });
    for (auto& addresses : found_) {
      std::sort(addresses.begin(), addresses.end());
      addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    }
    return std::move(found_);
  }

 private:
  void look_at(size_t module, const elf::FunctionSlot& slot) {
    if (slot.symbol.empty()) return by_resolver(module, slot);
    const auto wanted = by_name_.find(slot.symbol);
    if (wanted == by_name_.end()) return;
    const auto value = bound_value(modules_[module], slot.place);
    if (!value) return;
    for (size_t i : wanted->second) take(i, *value);
  }

  void by_resolver(size_t module, const elf::FunctionSlot& slot) {
    for (size_t i = 0; i < ifuncs_.size(); ++i) {
      if (ifuncs_[i].module != module || ifuncs_[i].function.addr != slot.resolver) continue;
      if (const auto value = bound_value(modules_[module], slot.place)) take(i, *value);
    }
  }

  std::optional<TargetAddr> bound_value(const Module& module, FileAddr place) const {
    const auto value = memory_.read_value<uint64_t>(module.to_target(place));
    const auto first = elf::load<uint64_t>(module.file().bytes({place, place + 8}), 0);
    if (!value || !first || *value == *first || *value == *first + module.bias()) return std::nullopt;
    return TargetAddr(*value);
  }

  // If a name has several definitions (another library's, an older version), each of them takes only what is
  // its own.
  void take(size_t i, TargetAddr value) {
    const Module& module = modules_[ifuncs_[i].module];
    const FileAddr address = module.to_file(value);
    if (!module.file().is_code(address) || address == ifuncs_[i].function.addr) return;
    const elf::Section* section = module.file().section_at(address);
    if (section && section->name.starts_with(".plt")) return;
    found_[i].push_back(address);
  }

  std::span<const Ifunc> ifuncs_;
  std::span<const Module> modules_;
  const proc::Memory& memory_;
  std::unordered_map<std::string_view, std::vector<size_t>> by_name_;
  std::vector<std::vector<FileAddr>> found_;
};

}  // namespace

std::vector<std::vector<FileAddr>> find_implementations(std::span<const Ifunc> ifuncs,
                                                        std::span<const Module> modules,
                                                        const proc::Memory& memory) {
  return Search(ifuncs, modules, memory).run();
}

}  // namespace blip::probe
