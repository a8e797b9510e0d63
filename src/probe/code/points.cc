// SPDX-License-Identifier: MIT
#include "probe/code/points.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "elf/match.h"
#include "probe/code/functions.h"
#include "probe/code/instructions.h"
#include "probe/code/no_code.h"

namespace blip::probe {

namespace {

constexpr size_t kShown = 8;  // definitions of a name that are listed

Error wrong(const elf::Spec& spec, const std::string& what) {
  return Error(ErrorKind::kNotFound, fmt::format("{}: {}", spec.text, what));
}

// True if the function is called, and so begins as the ABI says.
bool is_called(const elf::Function& f) { return !f.is_cold && !f.is_nameless; }

Result<Point> checked(const Module& module, const elf::Function& function, FileAddr address,
                      InstructionStarts* starts) {
  InstructionStarts own;
  if (std::string why = not_an_instruction(module, function, address, starts ? *starts : own); !why.empty())
    return Error(ErrorKind::kNotFound, why);
  return Point{
      .addr = address, .is_entry = address == function.addr && is_called(function), .function = function};
}

class PointFinder {
 public:
  PointFinder(const elf::Spec& spec, std::span<const Module> modules, const ResolveContext& context)
      : spec_(spec), modules_(modules), context_(context) {}

  Result<FoundPoint> run() const {
    if (spec_.kind == elf::SpecKind::kAddress) return at_address(TargetAddr(spec_.offset));
    elf::Spec named = spec_;
    named.kind = elf::SpecKind::kName;
    ResolveContext quiet = context_;
    quiet.hints = quiet.clones = false;
    const auto module = named_file();
    quiet.any_scope = !module;  // node+0xOFF is no place in Iterator::node
    const auto found = resolve_functions({&named, 1}, modules_, quiet);
    if (found && found->size() > 1) return several(*found);
    if (found) return in_function(found->front());
    if (module) return in_file(*module, FileAddr(spec_.offset));
    quiet.hints = context_.hints;
    return resolve_functions({&named, 1}, modules_, quiet).error();
  }

 private:
  Result<FoundPoint> at_address(TargetAddr address) const {
    for (size_t m = 0; m < modules_.size(); ++m)
      if (modules_[m].file().segment_at(modules_[m].to_file(address)))
        return in_file(m, modules_[m].to_file(address));
    return wrong(spec_, outside_of_modules(address, modules_, context_));
  }

  Result<FoundPoint> in_file(size_t m, FileAddr address) const {
    auto point = point_at(modules_[m], address, context_.starts);
    if (!point) return wrong(spec_, point.error().message());
    std::string name = place_name(modules_[m], point->function, address);
    return FoundPoint{m, *std::move(point), std::move(name)};
  }

  // The module that stands before the '+', by its file's name or by its path.
  std::optional<size_t> named_file() const {
    if (spec_.kind != elf::SpecKind::kSymbolOffset || spec_.module) return {};
    for (size_t m = 0; m < modules_.size(); ++m)
      if (modules_[m].path() == spec_.name || modules_[m].path().ends_with("/" + spec_.name)) return m;
    for (size_t m = 0; m < modules_.size(); ++m)
      if (elf::module_matches(spec_.name, modules_[m].basename())) return m;
    return {};
  }

  Result<FoundPoint> in_function(const FunctionTarget& target) const {
    const Module& module = modules_[target.module];
    const elf::Function& f = target.function;
    if (f.is_ifunc)
      return wrong(spec_, "an IFUNC: what it stands for is chosen in the process, and not known here");
    if (f.size == 0) return wrong(spec_, kNoSize);
    if (spec_.offset >= f.size) return wrong(spec_, past_the_end(target));
    auto point = checked(module, f, f.addr + spec_.offset, context_.starts);
    if (!point) return wrong(spec_, point.error().message());
    std::string name = target.name;
    if (spec_.kind == elf::SpecKind::kSymbolOffset) name += fmt::format("+{:#x}", spec_.offset);
    return FoundPoint{target.module, *std::move(point), std::move(name)};
  }

  std::string past_the_end(const FunctionTarget& target) const {
    const Module& module = modules_[target.module];
    std::string text =
        fmt::format("past the end of {}, which is {:#x} bytes long{}", target.name, target.function.size,
                    target.function.size_guessed ? " (up to the next symbol)" : "");
    const FileAddr address = target.function.addr + spec_.offset;
    if (const auto other = point_at(module, address, context_.starts))
      text += fmt::format("; what is there is {}", place_name(module, other->function, address));
    return text;
  }

  Error several(const std::vector<FunctionTarget>& found) const {
    std::vector<std::string> places;
    for (const FunctionTarget& t : found) {
      if (places.size() == kShown) break;
      places.push_back(
          fmt::format("{}+{:#x}", modules_[t.module].basename(), (t.function.addr + spec_.offset).value));
    }
    if (found.size() > kShown) places.push_back(fmt::format("{} more", found.size() - kShown));
    return wrong(spec_, fmt::format("{} functions are called {}: say which one by its place, one of {}",
                                    found.size(), spec_.name, fmt::join(places, ", ")));
  }

  const elf::Spec& spec_;
  std::span<const Module> modules_;
  const ResolveContext& context_;
};

}  // namespace

Result<FoundPoint> find_instruction(const elf::Spec& spec, std::span<const Module> modules,
                                    const ResolveContext& context) {
  return PointFinder(spec, modules, context).run();
}

Result<Point> point_at(const Module& module, FileAddr address, InstructionStarts* starts) {
  if (std::string why = no_code_at(module, address); !why.empty()) return Error(ErrorKind::kNotFound, why);
  TRY(const auto function, function_around(module, address));
  if (!function) return Error(ErrorKind::kNotFound, no_function_at(module, address));
  return checked(module, *function, address, starts);
}

}  // namespace blip::probe
