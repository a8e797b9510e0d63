// SPDX-License-Identifier: MIT
#include "proc/files/cpu.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "machine/features.h"
#include "proc/files/status.h"

namespace blip::proc {

namespace {

constexpr unsigned kMaxCpus = 1 << 16;

Error malformed(std::string_view text) {
  return Error(ErrorKind::kInvalid, "malformed CPU list: '" + std::string(text) + "'");
}

// A number at the beginning of the text, taken off it.
bool take_number(std::string_view& text, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value >= kMaxCpus) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

Result<std::vector<unsigned>> read_cpu_list(const char* path) {
  TRY(const std::string text, read_proc_file(path));
  return parse_cpu_list(text);
}

// Chroots and some containers have no /sys. /proc/stat names every CPU that is online.
Result<std::vector<unsigned>> read_cpus_of_stat() {
  TRY(const std::string text, read_proc_file("/proc/stat"));
  return parse_cpus_of_stat(text);
}

// The features that the kernel found and uses, as one line of words.
std::optional<std::string> cpu_flags() {
  const auto text = read_proc_file("/proc/cpuinfo");
  if (!text) return std::nullopt;
  const size_t begin = text->find("\n" + std::string(machine::kFeatureLine));
  if (begin == std::string::npos) return std::nullopt;
  return text->substr(begin + 1, text->find('\n', begin + 1) - begin - 1);
}

bool has_word(std::string_view line, std::string_view word) {
  return (std::string(line) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

}  // namespace

Result<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
  const std::string_view whole = text;
  std::vector<unsigned> cpus;
  while (!text.empty() && text != "\n") {
    unsigned first = 0;
    if (!take_number(text, first)) return malformed(whole);
    unsigned last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!take_number(text, last) || last < first) return malformed(whole);
    }
    for (unsigned cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (text.starts_with(','))
      text.remove_prefix(1);
    else if (!text.empty() && text != "\n")
      return malformed(whole);
  }
  if (cpus.empty()) return malformed(whole);
  return cpus;
}

Result<std::vector<unsigned>> parse_cpus_of_stat(std::string_view text) {
  std::vector<unsigned> cpus;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with("cpu")) continue;
    line.remove_prefix(3);
    unsigned cpu = 0;
    if (take_number(line, cpu)) cpus.push_back(cpu);
  }
  if (cpus.empty()) return Error(ErrorKind::kInvalid, "/proc/stat names no CPU");
  return cpus;
}

Result<unsigned> possible_cpus() {
  auto cpus = read_cpu_list("/sys/devices/system/cpu/possible");
  if (!cpus) cpus = read_cpus_of_stat();
  if (!cpus) return cpus.error();
  return cpus->back() + 1;
}

Result<std::vector<unsigned>> online_cpus() {
  auto cpus = read_cpu_list("/sys/devices/system/cpu/online");
  return cpus ? cpus : read_cpus_of_stat();
}

bool tsc_usable() {
  const auto flags = cpu_flags();
  return flags && std::all_of(machine::kClockFeatures.begin(), machine::kClockFeatures.end(),
                              [&](std::string_view feature) { return has_word(*flags, feature); });
}

bool shadow_stacks_possible() {
  if (machine::kShadowStackFeature.empty()) return false;
  const auto flags = cpu_flags();
  return !flags || has_word(*flags, machine::kShadowStackFeature);
}

}  // namespace blip::proc
