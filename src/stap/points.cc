// SPDX-License-Identifier: MIT
#include "stap/points.h"

#include <fmt/core.h>

#include <algorithm>

#include "stap/parser.h"
#include "stap/tree_text.h"

namespace blip::stap {

namespace {

using script::WantedProbe;
using Kind = WantedProbe::Kind;
using Part = ProbePoint::Part;
using Nanoseconds = std::chrono::nanoseconds;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kJiffies = 250;  // a second

struct Unit {
  std::string_view name;
  int64_t nanoseconds;
};
constexpr Unit kUnits[] = {
    {"s", kSecond},      {"sec", kSecond}, {"ms", 1'000'000},
    {"msec", 1'000'000}, {"us", 1000},     {"usec", 1000},
    {"ns", 1},           {"nsec", 1},      {"jiffies", kSecond / kJiffies},
};

// What other families of probes there are, and why they are none here.
struct Refusal {
  std::string_view name;
  std::string_view why;
};
constexpr std::string_view kOfKernel = "a kernel probe: blip sees user space only, stap as root can";
constexpr Refusal kRefusals[] = {
    {"kernel", kOfKernel},
    {"module", kOfKernel},
    {"kprobe", kOfKernel},
    {"netfilter", kOfKernel},
    {"syscall", kOfKernel},
    {"nd_syscall", kOfKernel},
    {"scheduler", kOfKernel},
    {"vm", kOfKernel},
    {"vfs", kOfKernel},
    {"ioblock", kOfKernel},
    {"ioscheduler", kOfKernel},
    {"tcp", kOfKernel},
    {"udp", kOfKernel},
    {"socket", kOfKernel},
    {"netdev", kOfKernel},
    {"signal", kOfKernel},
    {"kprocess", kOfKernel},
    {"nfs", kOfKernel},
    {"nfsd", kOfKernel},
    {"sunrpc", kOfKernel},
    {"irq_handler", kOfKernel},
    {"softirq", kOfKernel},
    {"workqueue", kOfKernel},
    {"generic", kOfKernel},
    {"stapio", kOfKernel},
    {"staprun", kOfKernel},
    {"scsi", kOfKernel},
    {"tty", kOfKernel},
    {"lock", kOfKernel},
    {"debuginfod", "debuginfod probes are not supported"},
    {"procfs", "procfs probes are not supported yet"},
    {"input", "input probes are not supported"},
    {"java", "Java probes are not supported"},
    {"python2", "Python probes are not supported"},
    {"python3", "Python probes are not supported"},
};

Error at(const Part& part, std::string_view message) { return error_at(part.spot, message); }

// Walks over the parts of a point.
class PointReader {
 public:
  explicit PointReader(const ProbePoint& point) : point_(point) {}

  Result<WantedProbe> run() {
    wanted_.may_be_missing = point_.is_optional;
    wanted_.range = first().spot.range;
    TRY_OK(family());
    if (at_ < point_.parts.size())
      return at(next(), fmt::format("there is no such probe: .{} has no meaning here", next().name));
    return wanted_;
  }

 private:
  const Part& first() const { return point_.parts[0]; }
  const Part& next() const { return point_.parts[at_]; }
  bool has_more() const { return at_ < point_.parts.size(); }

  // Takes a part with this name: with no argument, a text or a number.
  const Part* take(std::string_view name) {
    return take_if(name, [](const Part& p) { return !p.has_argument(); });
  }
  const Part* take_text(std::string_view name) {
    return take_if(name, [](const Part& p) { return p.text.has_value(); });
  }
  const Part* take_number(std::string_view name) {
    return take_if(name, [](const Part& p) { return p.number.has_value(); });
  }
  template <typename Condition>
  const Part* take_if(std::string_view name, const Condition& condition) {
    if (!has_more() || next().name != name || !condition(next())) return nullptr;
    return &point_.parts[at_++];
  }

  Status family() {
    struct Row {
      std::string_view name;
      Status (PointReader::*read)();
    };
    static constexpr Row kRows[] = {
        {"begin", &PointReader::begin}, {"end", &PointReader::end},     {"error", &PointReader::error},
        {"never", &PointReader::never}, {"timer", &PointReader::timer}, {"process", &PointReader::process},
        {"perf", &PointReader::perf},
    };
    for (const Row& row : kRows)
      if (first().name == row.name) return (this->*row.read)();
    for (const Refusal& refusal : kRefusals)
      if (first().name == refusal.name) return at(first(), fmt::format("{}: {}", refusal.name, refusal.why));
    return at(first(), fmt::format("there is no such probe: {}", text_of(point_)));
  }

  Status of_script(std::string_view name, Kind kind) {
    if (take(name) == nullptr && take_number(name) == nullptr)
      return at(next(), fmt::format("{} takes a number, or nothing", name));
    wanted_.kind = kind;
    return {};
  }
  Status begin() { return of_script("begin", Kind::kBegin); }
  Status end() { return of_script("end", Kind::kEnd); }
  Status error() { return of_script("error", Kind::kError); }
  Status never() {
    if (take("never") == nullptr) return at(next(), "never takes nothing");
    wanted_.kind = Kind::kNever;
    return {};
  }

  Status period(const Part& part, int64_t unit) {
    if (*part.number <= 0 || *part.number > INT64_MAX / unit) return at(part, "this time is not valid");
    wanted_.kind = Kind::kTimer;
    wanted_.period = Nanoseconds(*part.number * unit);
    return {};
  }

  Status timer() {
    ++at_;
    if (!has_more())
      return at(first(),
                "timer.s(N), timer.ms(N), timer.us(N), timer.hz(N) or timer.profile is expected here");
    if (take("profile") != nullptr) {
      take("tick");
      return profile(kSecond / kJiffies);
    }
    if (const Part* part = take_number("hz")) {
      if (*part->number <= 0 || *part->number > kSecond) return at(*part, "this rate is not valid");
      wanted_.kind = Kind::kTimer;
      wanted_.period = Nanoseconds(kSecond / *part->number);
      return {};
    }
    for (const Unit& unit : kUnits)
      if (const Part* part = take_number(unit.name)) {
        TRY_OK(period(*part, unit.nanoseconds));
        if (const Part* random = take_number("randomize");
            random != nullptr && (*random->number < 0 || *random->number > *part->number))
          return at(*random, "a timer varies by no more than its period");
        return {};
      }
    return at(next(), fmt::format("there is no timer.{}", next().name));
  }

  Status profile(int64_t nanoseconds) {
    wanted_.kind = Kind::kProfile;
    wanted_.period = Nanoseconds(nanoseconds);
    return {};
  }

  Status perf() {
    ++at_;
    if (take("sw") == nullptr || take("cpu_clock") == nullptr)
      return at(first(), "perf: of its events blip has perf.sw.cpu_clock");
    int64_t sample = 1'000'000;
    if (const Part* part = take_number("sample")) sample = *part->number;
    if (const Part* part = take_number("hz")) sample = *part->number > 0 ? kSecond / *part->number : 0;
    if (sample <= 0) return at(first(), "this rate is not valid");
    take("process");
    take_text("process");
    return profile(sample);
  }

  Status process() {
    const Part& part = next();
    ++at_;
    if (part.text) wanted_.module = *part.text;
    if (part.number) {
      if (*part.number < 0 || *part.number > INT32_MAX) return at(part, "this is no process");
      wanted_.number = static_cast<int>(*part.number);
    }
    if (const Part* library = take_text("library")) wanted_.module = *library->text;
    if (!has_more())
      return at(part, "process(...) is followed by .function(\"...\"), .mark(\"...\"), .begin and the like");
    return of_process();
  }

  Status of_process() {
    if (take("begin") != nullptr) return kind(Kind::kProcessBegin);
    if (take("end") != nullptr) return kind(Kind::kProcessEnd);
    if (take("thread") != nullptr) {
      if (take("begin") != nullptr) return kind(Kind::kThreadBegin);
      if (take("end") != nullptr) return kind(Kind::kThreadEnd);
      return at(point_.parts[at_ - 1], "thread.begin or thread.end is expected here");
    }
    if (const Part* part = take_text("function")) return function(*part);
    if (const Part* part = take_number("function")) return address(*part);
    if (const Part* part = take_text("statement")) return statement(*part);
    if (const Part* part = take_number("statement")) {
      take("absolute");
      return address(*part);
    }
    if (const Part* part = take_text("mark")) return mark("*", *part);
    if (const Part* provider = take_text("provider"))
      if (const Part* part = take_text("mark")) return mark(*provider->text, *part);
    if (take("plt") != nullptr) return plt("*");
    if (const Part* part = take_text("plt")) return plt(*part->text);
    return other();
  }

  Status other() {
    const std::string& name = next().name;
    if (name == "syscall")
      return at(next(), "process.syscall probes are not supported yet: probe the functions of libc");
    if (name == "insn")
      return at(next(), "process.insn probes are not supported: they would stop at each instruction");
    return at(next(), fmt::format("there is no such probe: .{} has no meaning here", name));
  }

  Status kind(Kind of) {
    wanted_.kind = of;
    return {};
  }

  Status address(const Part& part) {
    wanted_.kind = Kind::kInstruction;
    wanted_.offset = static_cast<uint64_t>(*part.number);
    return takes_return() ? Status(at(part, "an address has no return")) : Status();
  }

  bool takes_return() { return take("return") != nullptr; }

  // FUNCTION@FILE:LINE; false: the line is not a number.
  bool split_place(const std::string& text, std::string& function, std::string& file,
                   std::string& line) const {
    const size_t at_sign = text.find('@');
    function = text.substr(0, at_sign);
    if (at_sign == std::string::npos) return true;
    file = text.substr(at_sign + 1);
    const size_t colon = file.find_last_of(":+");
    if (colon == std::string::npos) return true;
    line = file.substr(file[colon] == ':' ? colon + 1 : colon);
    file.resize(colon);
    return !line.empty() && line.find_first_not_of("0123456789") == std::string::npos && line.size() < 10;
  }

  // Where the part says, a line of a file or a function.
  Status place(const Part& part) {
    std::string line;
    if (!split_place(*part.text, wanted_.name, wanted_.file, line))
      return at(part, "a place is \"FUNCTION\", \"FUNCTION@FILE\" or \"FUNCTION@FILE:LINE\" with one line");
    if (wanted_.name.empty()) return at(part, "the name of a function is missing");
    wanted_.kind = Kind::kFunction;
    if (line.empty()) return {};
    wanted_.kind = Kind::kLine;
    wanted_.line = static_cast<uint32_t>(std::stoul(line));
    return {};
  }

  Status function(const Part& part) {
    TRY_OK(place(part));
    wanted_.copies = WantedProbe::Copies::kAll;
    for (;;) {
      if (take("call") != nullptr)
        wanted_.copies = WantedProbe::Copies::kNotInlined;
      else if (take("inline") != nullptr)
        wanted_.copies = WantedProbe::Copies::kOnlyInlined;
      else if (take("exported") == nullptr)
        break;
    }
    if (const Part* label = take_text("label")) {
      wanted_.kind = Kind::kLabel;
      wanted_.label = *label->text;
      return {};
    }
    if (has_more() && (next().name == "callee" || next().name == "callees"))
      return at(next(), "callee probes are not supported: probe the function that is called");
    if (takes_return()) {
      if (wanted_.kind != Kind::kFunction) return at(part, "a line has no return");
      wanted_.kind = Kind::kReturn;
      wanted_.copies = WantedProbe::Copies::kNotInlined;
      take_number("maxactive");
    }
    return {};
  }

  Status statement(const Part& part) {
    TRY_OK(place(part));
    take("nearest");
    return {};
  }

  Status mark(const std::string& provider, const Part& part) {
    wanted_.kind = Kind::kMark;
    // SystemTap writes a - for the two _ of a mark's name.
    std::string name = *part.text;
    wanted_.name = provider + ":" + name;
    return {};
  }

  Status plt(const std::string& name) {
    wanted_.kind = Kind::kFunction;
    wanted_.name = name + "@plt";
    if (takes_return()) wanted_.kind = Kind::kReturn;
    return {};
  }

  const ProbePoint& point_;
  size_t at_ = 0;
  WantedProbe wanted_;
};

}  // namespace

Result<WantedProbe> wanted_probe(const ProbePoint& point) { return PointReader(point).run(); }

int64_t sequence_of(const ProbePoint& point) { return point.parts[0].number.value_or(0); }

}  // namespace blip::stap
