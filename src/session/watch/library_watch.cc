// SPDX-License-Identifier: MIT
#include "session/watch/library_watch.h"

#include <algorithm>

#include "abi/layout.h"

namespace blip::session {

namespace {

constexpr std::chrono::milliseconds kPause{20};
constexpr int kShareOfTime = 20;

bool is_code_of_file(const proc::Map& map) {
  return map.exec && map.inode != 0 && map.path.starts_with('/') && !map.path.starts_with("/memfd:blip-");
}

bool is_mapped(const proc::Map& text, std::span<const proc::Map> maps) {
  const proc::Map* now = proc::find_map(maps, text.range.begin);
  return now && now->exec && now->dev == text.dev && now->inode == text.inode &&
         now->offset + (text.range.begin - now->range.begin) == text.offset;
}

// The mappings of the module's code.
std::vector<proc::Map> text_of(const probe::Module& module, std::span<const proc::Map> maps) {
  std::vector<proc::Map> text;
  const std::vector<AddrRange> ranges = module.text();
  for (const proc::Map& map : maps) {
    if (!is_code_of_file(map)) continue;
    if (std::any_of(ranges.begin(), ranges.end(), [&](const AddrRange& r) { return r.overlaps(map.range); }))
      text.push_back(map);
  }
  return text;
}

}  // namespace

LibraryWatch::LibraryWatch(const proc::Process& process, const proc::Memory& memory,
                           probe::ModuleFiles& files, std::span<const probe::Module> modules,
                           std::span<const proc::Map> maps)
    : process_(process), memory_(memory), files_(files) {
  for (const probe::Module& module : modules) there_.push_back({module, text_of(module, maps)});
}

std::vector<probe::Module> LibraryWatch::modules() const {
  std::vector<probe::Module> all;
  for (const CodeFile& file : there_) all.push_back(file.module);
  return all;
}

void LibraryWatch::put_off() { next_ = Clock::now() + kPause; }

Result<LibraryNews> LibraryWatch::look(const std::function<bool(const CodeFile&)>& same) {
  const auto begin = Clock::now();
  auto news = compare(same);
  const auto end = Clock::now();
  next_ = end + std::max<Clock::duration>(kPause, (end - begin) * kShareOfTime);
  return news;
}

Result<LibraryNews> LibraryWatch::compare(const std::function<bool(const CodeFile&)>& same) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
  LibraryNews news;
  std::erase_if(there_, [&](CodeFile& library) {
    if (library.module.is_executable()) return false;
    const bool mapped = std::all_of(library.text.begin(), library.text.end(),
                                    [&](const proc::Map& text) { return is_mapped(text, maps); });
    if (mapped && same(library)) return false;
    news.went.push_back(std::move(library));
    return true;
  });
  std::set<Key> ignored;
  std::vector<proc::Map> fresh;
  for (const proc::Map& map : maps) {
    if (!is_code_of_file(map)) continue;
    const bool known = std::any_of(there_.begin(), there_.end(), [&](const CodeFile& library) {
      return std::any_of(library.text.begin(), library.text.end(),
                         [&](const proc::Map& text) { return text.range.overlaps(map.range); });
    });
    if (known) continue;
    const Key key{map.range.begin.value, map.dev, map.inode};
    if (ignored_.contains(key)) {
      ignored.insert(key);
    } else {
      fresh.push_back(map);
    }
  }
  ignored_ = std::move(ignored);
  if (!fresh.empty()) TRY_OK(load(maps, fresh, news));
  return news;
}

Status LibraryWatch::load(std::span<const proc::Map> maps, std::span<const proc::Map> fresh,
                          LibraryNews& news) {
  std::vector<proc::Map> wanted(fresh.begin(), fresh.end());
  for (const CodeFile& library : there_)
    if (library.module.is_executable()) wanted.insert(wanted.end(), library.text.begin(), library.text.end());
  TRY(const probe::LoadedModules loaded, probe::load_modules(process_, memory_, wanted, files_));
  for (const probe::Module& module : loaded.modules) {
    if (module.is_executable()) continue;
    news.came.push_back({module, text_of(module, maps)});
    there_.push_back(news.came.back());
  }
  for (const proc::Map& map : fresh)
    if (std::none_of(news.came.begin(), news.came.end(), [&](const CodeFile& library) {
          return std::any_of(library.text.begin(), library.text.end(),
                             [&](const proc::Map& text) { return text.range == map.range; });
        }))
      ignored_.insert({map.range.begin.value, map.dev, map.inode});
  return {};
}

}  // namespace blip::session
