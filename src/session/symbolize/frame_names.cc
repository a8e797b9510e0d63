// SPDX-License-Identifier: MIT
#include "session/symbolize/frame_names.h"

#include "abi/layout.h"
#include "base/path.h"
#include "ctf/schema.h"
#include "probe/code/functions.h"
#include "session/symbolize/debug_images.h"
#include "unwind/stacks.h"

namespace blip::session {

namespace {

// The first of the file's own addresses; segments are mapped in whole pages.
uint64_t first_page(const elf::ElfFile& file) {
  return file.segments().empty()
             ? 0
             : file.segments().front().range.begin.value / abi::kPageSize * abi::kPageSize;
}

}  // namespace

std::string_view why_cut(uint8_t end) {
  if (end == ctf::StackInfo::kNoRoom) return "no room for more stacks in this trace";
  return unwind::why_cut(static_cast<abi::UnwindEnd>(end));
}

void FrameNames::put(Image image) {
  std::erase_if(images_, [&](const auto& entry) { return entry.second.range.overlaps(image.range); });
  known_.clear();
  const uint64_t begin = image.range.begin.value;
  images_.insert_or_assign(begin, std::move(image));
}

void FrameNames::add(const probe::Module& module) {
  put({.range = module.extent(), .name = module.basename(), .module = module});
}

void FrameNames::add_file(const std::string& path, uint64_t begin, uint64_t size,
                          const std::string& build_id) {
  Image image{.range = {TargetAddr(begin), TargetAddr(begin + size)},
              .name = std::string(basename_of(path)),
              .module = {}};
  if (auto module = probe::Module::of_file(path); module) {
    const bool is_same = build_id.empty() || module->file().build_id() == build_id;
    if (is_same) image.module = module->moved_to(begin - first_page(module->file()));
  }
  put(std::move(image));
}

void FrameNames::remove(uint64_t begin) {
  if (images_.erase(begin) != 0) known_.clear();
}

FrameNames::Image* FrameNames::image_of(uint64_t address) {
  auto after = images_.upper_bound(address);
  if (after == images_.begin()) return nullptr;
  Image& image = std::prev(after)->second;
  return image.range.contains(TargetAddr(address)) ? &image : nullptr;
}

bool FrameNames::has(uint64_t address) const {
  return const_cast<FrameNames*>(this)->image_of(address) != nullptr;
}

std::vector<dwarf::SourceFrame> FrameNames::source_frames(Image& image, FileAddr code) {
  if (!std::exchange(image.looked_for_source, true)) {
    for (const std::span<const uint8_t> bytes : debug_images(*image.module))
      if (auto source = dwarf::InlinedFrames::open(bytes, alternate_image(*image.module)))
        image.sources.push_back(*std::move(source));
  }
  for (const dwarf::InlinedFrames& source : image.sources)
    if (auto frames = source.find(code); !frames.empty()) return frames;
  return {};
}

std::vector<NamedFrame> FrameNames::name(uint64_t address, bool is_return) {
  const uint64_t code = address - (is_return ? 1 : 0);
  Image* image = image_of(code);
  if (!image) return {NamedFrame{}};
  if (!image->module) return {NamedFrame{.module = image->name}};
  const probe::Module& module = *image->module;
  const FileAddr in_file = module.to_file(TargetAddr(code));
  std::vector<NamedFrame> frames;
  for (const dwarf::SourceFrame& source : source_frames(*image, in_file))
    frames.push_back({.function = source.function,
                      .offset = {},
                      .module = image->name,
                      .file = source.file,
                      .line = source.line,
                      .is_inlined = source.is_inlined});
  if (frames.empty() || frames.back().is_inlined) frames.push_back({.module = image->name});
  const auto function = probe::function_around(module, in_file);
  if (!function || !*function || (*function)->is_nameless) return frames;
  NamedFrame& outer = frames.back();
  if (outer.function.empty()) outer.function = probe::display_name(module, **function);
  outer.offset = module.to_file(TargetAddr(address)) - (*function)->addr;
  return frames;
}

const std::vector<NamedFrame>& FrameNames::of(uint64_t address, bool is_return) {
  const auto [known, is_new] = known_.try_emplace({address, is_return});
  if (is_new) known->second = name(address, is_return);
  return known->second;
}

}  // namespace blip::session
