// SPDX-License-Identifier: MIT
// Functions that only compute something, and builtins.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "bt/lower.h"

namespace blip::bt {

namespace {

using ExprKind = Expr::Kind;
using script::BlockOp;

constexpr uint64_t kNoStack = UINT64_MAX;
constexpr uint32_t kFramesOfStack = 127;

// As the kernel calls them, and as blip does.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kRegisters{{{"ax", "rax"},
                                                                                    {"bx", "rbx"},
                                                                                    {"cx", "rcx"},
                                                                                    {"dx", "rdx"},
                                                                                    {"si", "rsi"},
                                                                                    {"di", "rdi"},
                                                                                    {"bp", "rbp"},
                                                                                    {"sp", "rsp"},
                                                                                    {"r8", "r8"},
                                                                                    {"r9", "r9"},
                                                                                    {"r10", "r10"},
                                                                                    {"r11", "r11"},
                                                                                    {"r12", "r12"},
                                                                                    {"r13", "r13"},
                                                                                    {"r14", "r14"},
                                                                                    {"r15", "r15"},
                                                                                    {"flags", "rflags"}}};

bool is_bytes(const Type& type) {
  return type.is_text() || type.kind == Type::Kind::kBuffer || type.is_unknown();
}

std::optional<unsigned> numbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  unsigned n = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), n);
  if (name.empty() || failed != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return n;
}

}  // namespace

// str(address), str(address, length with its 0), str($1), str("text").
Result<Typed> Lowerer::call_str(const Expr& e) {
  TRY_OK(wants(e, 1, 2));
  const uint32_t longest = script_.longest_text;
  uint32_t most = longest;
  std::optional<Value> length;
  if (e.operands.size() == 2) {
    TRY(const Value n, number(*e.operands[1]));
    const auto constant = f_.constant_of(n);
    if (constant)
      most = static_cast<uint32_t>(std::min<uint64_t>(*constant == 0 ? 0 : *constant - 1, longest));
    else
      length = f_.keep(n);
  }
  const Expr& from = *e.operands[0];
  const bool is_cut_by_config = most == longest && !length;
  if (from.kind == ExprKind::kPositional) {
    const bool is_there = from.number <= script_.parameters.size();
    const std::string text = is_there ? script_.parameters[from.number - 1] : "";
    return of_text(f_.text(text.substr(0, most)));
  }
  if (from.kind == ExprKind::kBinary && from.sign == "+" && from.operands[0]->kind == ExprKind::kPositional) {
    TRY(const Value by, number(*from.operands[1]));
    const uint64_t which = from.operands[0]->number, skip = f_.constant_of(by).value_or(UINT64_MAX);
    const std::string text = which <= script_.parameters.size() ? script_.parameters[which - 1] : "";
    if (skip > text.size()) return at(e, "the text is shorter than that");
    return of_text(f_.text(std::string_view(text).substr(skip, most)));
  }
  TRY(Typed v, value(from));
  if (!v.has_value() && !v.operand) return at(from, "str() wants the address of a text");
  if (!v.type.is_text() && v.type.kind != Kind::kTarget && v.type.kind != Kind::kBuffer &&
      !v.type.is_number())
    return at(from, fmt::format("str() wants the address of a text, and this is {}", to_string(v.type)));
  if (most == 0) return of_text(f_.text(""));
  TRY(Value text, read_text(from, v, most));
  if (length) text = f_.apply("substring", {text, f_.constant(0), f_.op(Op::kSub, *length, f_.constant(1))});
  return of_text(text, is_cut_by_config ? longest : 0);
}

// buf("text", length), buf(address, length), buf(array).
Result<Typed> Lowerer::call_buf(const Expr& e) {
  TRY_OK(wants(e, 1, 2));
  Type type = of_kind(Kind::kBuffer);
  const Expr& from = *e.operands[0];
  TRY(Typed v, value(from));
  std::optional<Value> length;
  if (e.operands.size() == 2) {
    TRY(length, number(*e.operands[1]));
  }
  const auto known = length ? f_.constant_of(*length) : std::nullopt;
  if (from.kind == ExprKind::kText && known && *known <= script_.config.max_strlen) {
    std::string bytes = from.text;  // with zeros behind it
    bytes.resize(*known);
    return Typed{.type = type, .leaves = {f_.text(bytes)}};
  }
  if (v.type.is_text() || v.type.kind == Kind::kBuffer) {
    const Value most = length.value_or(f_.constant(script_.config.max_strlen));
    return Typed{.type = type, .leaves = {f_.apply("substring", {v.value(), f_.constant(0), most})}};
  }
  if (v.type.is_unknown() || (!names_ && has_hit_)) return Typed{.type = type, .leaves = {f_.text("")}};
  TRY(const script::Operand operand, as_operand(from, v));
  uint64_t most = script_.config.max_strlen;
  uint32_t address = script::kNone;
  const script::Type& c = script::resolve(*operand.type);
  if (c.kind == script::TypeKind::kArray) {
    auto node = names_->access().bits(operand);
    if (!node) return place(from, node.error());
    address = *node;
    if (!length) {
      most = std::min(most, c.size);
      length = f_.constant(most);
    }
  } else {
    auto node = names_->number(operand);
    if (!node) return place(from, node.error());
    address = *node;
  }
  if (!length) return at(e, "buf() of an address wants a length: buf(address, length)");
  if (const auto constant = f_.constant_of(*length)) most = std::min(most, *constant);
  if (length->where != Value::Where::kPool)
    return at(*e.operands[1],
              "this length is known only to blip, after the hit: what lies there cannot be read at the hit");
  if (most == 0) return Typed{.type = type, .leaves = {f_.text("")}};
  return Typed{.type = type,
               .leaves = {f_.read_bytes(f_.pool_value(address), *length, static_cast<uint32_t>(most))}};
}

Result<Typed> Lowerer::call_strlen(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  TRY(const Typed v, whole_value(*e.operands[0]));
  if (!is_bytes(v.type)) return at(*e.operands[0], "strlen() wants a text");
  return of_number(f_.apply("length", {v.value()}), integer(8, false));
}

Result<Typed> Lowerer::call_strncmp(const Expr& e) {
  TRY_OK(wants(e, 3, 3));
  TRY(const std::vector<Typed> v, values(e.operands, true));
  if (!is_bytes(v[0].type) || !is_bytes(v[1].type) || !v[2].type.is_number())
    return at(e, "it is strncmp(text, text, length)");
  const Value order = f_.apply("compare_first", {v[0].value(), v[1].value(), v[2].value()});
  return of_number(f_.op(Op::kNotEqual, order, f_.constant(0)));
}

Result<Typed> Lowerer::call_contains(const Expr& e) {
  TRY_OK(wants(e, 2, 2));
  TRY(const std::vector<Typed> v, values(e.operands, true));
  if (!is_bytes(v[0].type) || !is_bytes(v[1].type)) return at(e, "it is strcontains(text, text)");
  return of_number(f_.apply("contains", {v[0].value(), v[1].value()}), of_kind(Kind::kBool));
}

Result<Typed> Lowerer::call_strstr(const Expr& e) {
  TRY_OK(wants(e, 2, 2));
  TRY(const std::vector<Typed> v, values(e.operands, true));
  if (!is_bytes(v[0].type) || !is_bytes(v[1].type)) return at(e, "it is strstr(text, text)");
  const Value digits = sprint({.kind = Shape::Kind::kStrstr}, {v[0].value(), v[1].value()});
  return of_number(f_.apply("parse_number", {digits, f_.constant(10)}));
}

Result<Typed> Lowerer::call_concat(const Expr& e) {
  TRY_OK(wants(e, 2, 2));
  TRY(const std::vector<Typed> v, values(e.operands, true));
  if (!is_bytes(v[0].type) || !is_bytes(v[1].type)) return at(e, "it is str_concat(text, text)");
  return of_text(f_.apply("concat", {v[0].value(), v[1].value()}));
}

// strerror(EPERM), signal_name(9)
Result<Typed> Lowerer::call_named_number(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  TRY(const Value n, number(*e.operands[0]));
  const bool is_error = e.text == "strerror";
  return of_text(sprint({.kind = is_error ? Shape::Kind::kStrerror : Shape::Kind::kSignalName}, {n}));
}

Result<Typed> Lowerer::call_strftime(const Expr& e) {
  TRY_OK(wants(e, 2, 2));
  if (e.operands[0]->kind != ExprKind::kText)
    return at(*e.operands[0], "strftime() wants a format in quotes");
  TRY(const Typed v, value(*e.operands[1]));
  if (!v.type.is_number()) return at(*e.operands[1], "strftime() wants nanoseconds");
  Type type = of_kind(Kind::kTimestamp);
  type.name = e.operands[0]->text;
  if (v.type.name == "tai") return Typed{.type = type, .leaves = v.leaves};
  const Value digits = sprint({.kind = Shape::Kind::kRealtime}, {v.value()});
  return Typed{.type = type, .leaves = {f_.apply("parse_number", {digits, f_.constant(10)})}};
}

Result<Typed> Lowerer::call_nsecs(const Expr& e) {
  TRY_OK(wants(e, 0, 1));
  Type type = integer(8, false);
  const Value now = f_.observe(BlockOp::kClock);
  if (e.operands.empty()) return of_number(now, type);
  const std::string& mode = e.operands[0]->text;
  if (e.operands[0]->kind != ExprKind::kName ||
      (mode != "boot" && mode != "monotonic" && mode != "tai" && mode != "sw_tai"))
    return at(*e.operands[0], "it is nsecs, nsecs(monotonic), nsecs(boot), nsecs(tai) or nsecs(sw_tai)");
  if (mode != "tai" && mode != "sw_tai") return of_number(now, type);
  type.name = "tai";
  const Value digits = sprint({.kind = Shape::Kind::kRealtime}, {now});
  return of_number(f_.apply("parse_number", {digits, f_.constant(10)}), type);
}

Result<Typed> Lowerer::call_usym(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  TRY(const Value address, number(*e.operands[0]));
  return Typed{.type = of_kind(Kind::kUsym), .leaves = {f_.observe(BlockOp::kPid), address}};
}

// ustack, ustack(3), ustack(perf), ustack(perf, 3)
Result<Typed> Lowerer::call_ustack(const Expr& e) {
  TRY_OK(wants(e, 0, 2));
  Type type = of_kind(Kind::kUstack);
  type.name = script_.config.stack_mode;
  type.limit = kFramesOfStack;
  for (const ExprPtr& o : e.operands) {
    if (o->kind == ExprKind::kName) {
      if (o->text != "bpftrace" && o->text != "perf" && o->text != "raw")
        return at(*o, "stacks are shown as bpftrace, perf or raw");
      type.name = o->text;
      continue;
    }
    TRY(const Value n, number(*o));
    const auto constant = f_.constant_of(n);
    if (!constant || *constant == 0) return at(*o, "the number of frames must not change");
    type.limit = static_cast<uint32_t>(std::min<uint64_t>(*constant, kFramesOfStack));
  }
  uses_stack_ = true;
  const Value none = f_.constant(kNoStack);
  const Value stack = has_hit_ ? f_.or_default(f_.stack(), none) : none;
  return Typed{.type = type, .leaves = {f_.observe(BlockOp::kPid), stack}};
}

Result<Typed> Lowerer::call_reg(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  if (e.operands[0]->kind != ExprKind::kText) return at(*e.operands[0], "it is reg(\"di\")");
  const std::string& name = e.operands[0]->text;
  const auto* known =
      std::find_if(kRegisters.begin(), kRegisters.end(), [&](const auto& r) { return r.first == name; });
  if (known == kRegisters.end())
    return at(
        *e.operands[0],
        fmt::format("there is no register '{}': ax, bx, cx, dx, si, di, bp, sp, r8 to r15, flags are known",
                    name));
  if (!has_hit_) return at(e, "this probe has no registers");
  if (!names_)
    return of_number(f_.pool_value(f_.pool().add({.op = Op::kRegister, .value = 7})), integer(8, false));
  auto operand = names_->reg(known->second);
  if (!operand) return place(e, operand.error());
  TRY(Typed v, from_operand(e, *operand));
  v.operand.reset();
  v.type = integer(8, false);
  return v;
}

Result<Typed> Lowerer::call_uaddr(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  if (e.operands[0]->kind != ExprKind::kText) return at(*e.operands[0], "it is uaddr(\"symbol\")");
  if (!has_hit_) return at(e, "this probe has no target with symbols");
  if (!names_) return unknown();
  auto found = names_->variable(e.operands[0]->text);
  if (!found) return place(e, found.error());
  auto address = names_->address(*found);
  if (!address) return place(e, address.error());
  return from_operand(e, *address);
}

Result<Typed> Lowerer::call_ntop(const Expr& e) {
  TRY_OK(wants(e, 1, 2));
  TRY(const Typed v, value(*e.operands.back()));
  const Shape shape{.kind = Shape::Kind::kNtop};
  if (v.type.is_unknown()) return of_text(f_.text(""));
  if (v.type.kind == Kind::kInteger)
    return of_text(sprint(shape, {f_.constant(4), v.value(), f_.constant(0)}));
  if (!names_ && has_hit_) return of_text(f_.text(""));
  TRY(const script::Operand operand, as_operand(e, v));
  const uint64_t size = script::resolve(*operand.type).size;
  auto from = names_->access().bits(operand);
  if (!from) return place(e, from.error());
  if (size != 4 && size != 16) return at(*e.operands.back(), "an address has 4 or 16 bytes");
  script::Builder& pool = f_.pool();
  const Value first = f_.pool_value(pool.load(*from, size == 4 ? 4 : 8));
  const Value second =
      size == 4 ? f_.constant(0) : f_.pool_value(pool.load(pool.add(Op::kAdd, *from, pool.constant(8)), 8));
  return of_text(sprint(shape, {f_.constant(size), first, second}));
}

Result<Typed> Lowerer::call_macaddr(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  TRY(const Typed v, value(*e.operands[0]));
  if (v.type.is_unknown() || (!names_ && has_hit_)) return of_text(f_.text(""));
  TRY(const script::Operand operand, as_operand(e, v));
  if (script::resolve(*operand.type).size != 6) return at(*e.operands[0], "a MAC address has 6 bytes");
  auto from = names_->access().bits(operand);
  if (!from) return place(e, from.error());
  script::Builder& pool = f_.pool();
  const Value first = f_.pool_value(pool.load(*from, 4));
  const Value second = f_.pool_value(pool.load(pool.add(Op::kAdd, *from, pool.constant(4)), 2));
  return of_text(sprint({.kind = Shape::Kind::kMac}, {first, second}));
}

Result<Typed> Lowerer::call_bswap(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  TRY(const Typed v, value(*e.operands[0]));
  if (v.type.kind != Kind::kInteger) return at(*e.operands[0], "bswap() wants an integer");
  Value of = f_.keep(v.value()), result = f_.constant(0);
  for (uint64_t i = 0; i < v.type.size; ++i) {
    const Value byte = f_.op(Op::kAnd, f_.op(Op::kShr, of, f_.constant(i * 8)), f_.constant(UINT8_MAX));
    result = f_.op(Op::kOr, result, f_.op(Op::kShl, byte, f_.constant((v.type.size - 1U - i) * 8)));
  }
  return of_number(result, integer(v.type.size, false));
}

// kptr(p) and uptr(p): all is user space here.
Result<Typed> Lowerer::call_pointer(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  if (e.text == "kptr") return refused(e);
  return value(*e.operands[0]);
}

Result<Typed> Lowerer::call_is(const Expr& e) {
  if (e.operands.empty()) return at(e, fmt::format("{}() wants an argument", e.text));
  const Expr& of = *e.operands[0];
  TRY(const Typed v, value(of));
  const bool is_literal =
      of.kind == ExprKind::kInteger || of.kind == ExprKind::kText || of.kind == ExprKind::kBool;
  const bool result = e.text == "is_str"       ? v.type.is_text()
                      : e.text == "is_integer" ? v.type.kind == Kind::kInteger
                      : e.text == "is_ptr"     ? v.type.kind == Kind::kPointer
                      : e.text == "is_array"   ? v.type.kind == Kind::kArray
                      : e.text == "is_literal" ? is_literal
                      : e.text == "assert_str" ? v.type.is_text()
                                               : v.type.kind == Kind::kInteger && !v.type.is_signed;
  if (e.text != "assert_str") return of_number(f_.constant(result), of_kind(Kind::kBool));
  if (!result) return at(of, "a text is wanted here");
  return nothing();
}

Result<Typed> Lowerer::call_builtin(const Expr& e) {
  if (!e.operands.empty()) {
    // comm(task) and the like are the kernel's.
    if (e.text == "ppid" || e.text == "comm" || e.text == "pid" || e.text == "tid") {
      if (e.operands[0]->kind == ExprKind::kName) return builtin(e, e.text);
    }
    return at(e, fmt::format("{}() takes no arguments here", e.text));
  }
  return builtin(e, e.text);
}

Typed Lowerer::config() {
  const Config& c = script_.config;
  Typed result{.type = of_kind(Kind::kRecord)};
  const auto add = [&](const char* field, const Typed& v) {
    result.type.fields.push_back({field, v.type});
    result.leaves.push_back(v.value());
  };
  add("max_strlen", of_number(f_.constant(c.max_strlen)));
  add("max_map_keys", of_number(f_.constant(c.max_map_keys)));
  add("max_cat_bytes", of_number(f_.constant(c.max_cat_bytes)));
  add("stack_mode", of_text(f_.text(c.stack_mode)));
  add("str_trunc_trailer", of_text(f_.text(c.str_trunc_trailer)));
  add("missing_probes", of_text(f_.text(c.missing_probes)));
  add("print_maps_on_exit", of_number(f_.constant(c.print_maps_on_exit), of_kind(Kind::kBool)));
  add("show_debug_info", of_number(f_.constant(c.show_debug_info), of_kind(Kind::kBool)));
  add("cpp_demangle", of_number(f_.constant(1), of_kind(Kind::kBool)));
  return result;
}

// Words that the session knows at run time.
std::optional<Typed> Lowerer::made_by_output(const std::string& name) {
  const Value pid = f_.observe(BlockOp::kPid), tid = f_.observe(BlockOp::kTid);
  const auto digits = [&](Shape::Kind kind, std::vector<Value> of, bool is_signed) {
    return of_number(f_.apply("parse_number", {sprint({.kind = kind}, of), f_.constant(10)}),
                     integer(8, is_signed));
  };
  if (name == "comm") return of_text(sprint({.kind = Shape::Kind::kComm}, {pid, tid}));
  if (name == "pcomm") return of_text(sprint({.kind = Shape::Kind::kComm, .text = "parent"}, {pid, pid}));
  if (name == "leader_comm") return of_text(sprint({.kind = Shape::Kind::kComm}, {pid, pid}));
  if (name == "probe") return of_text(sprint({.kind = Shape::Kind::kProbe}, {f_.observe(BlockOp::kProbe)}));
  if (name == "probetype")
    return of_text(sprint({.kind = Shape::Kind::kProbeType}, {f_.observe(BlockOp::kProbe)}));
  if (name == "func") return of_text(sprint({.kind = Shape::Kind::kFunc}, {f_.observe(BlockOp::kProbe)}));
  if (name == "elapsed") return digits(Shape::Kind::kElapsed, {f_.observe(BlockOp::kClock)}, false);
  if (name == "rand") return digits(Shape::Kind::kRandom, {}, false);
  if (name == "ncpus") return digits(Shape::Kind::kCpus, {}, true);
  if (name == "ppid") return digits(Shape::Kind::kParent, {pid}, false);
  if (name == "cpid") return digits(Shape::Kind::kTargetPid, {}, false);
  if (name == "username") return Typed{.type = of_kind(Kind::kUser), .leaves = {f_.observe(BlockOp::kUid)}};
  return std::nullopt;
}

Result<Typed> Lowerer::builtin(const Expr& e, const std::string& full_name) {
  const std::string name =
      full_name.starts_with("__builtin_") ? full_name.substr(sizeof "__builtin_" - 1) : full_name;
  constexpr std::pair<std::string_view, BlockOp> kObserved[] = {
      {"pid", BlockOp::kPid}, {"tid", BlockOp::kTid}, {"uid", BlockOp::kUid},
      {"gid", BlockOp::kGid}, {"cpu", BlockOp::kCpu}, {"nsecs", BlockOp::kClock}};
  for (const auto& [known, op] : kObserved)
    if (known == name) return of_number(f_.observe(op), integer(name == "nsecs" ? 8 : 4, false));
  if (auto made = made_by_output(name)) return *std::move(made);
  if (name == "config") return config();
  if (name == "args") return arguments(e);
  if (name == "retval") return returned(e);
  if (name == "ustack") {
    Expr plain{.kind = ExprKind::kCall, .range = e.range, .text = "ustack"};
    return call_ustack(plain);
  }
  if (const auto n = numbered(name, "arg")) return argument(e, *n);
  if (const auto n = numbered(name, "sarg")) {
    if (!has_hit_) return at(e, "this probe has no arguments");
    // Above the return address.
    return of_number(f_.pool_value(f_.pool().add({.op = Op::kLoadNear, .value = 8 + uint64_t{*n} * 8})));
  }
  if (name == "usermode") return of_number(f_.constant(1));
  if (name == "has_cpid") return of_number(f_.constant(0), of_kind(Kind::kBool));
  if (name == "default_str_length") return of_number(f_.constant(script_.config.max_strlen), integer());
  constexpr std::string_view kOfKernel[] = {"kstack",  "curtask", "cgroup",  "ctx",
                                            "jiffies", "numaid",  "cgroupid"};
  if (std::find(std::begin(kOfKernel), std::end(kOfKernel), name) != std::end(kOfKernel))
    return at(e, fmt::format("{} is the kernel's: blip sees user space only; bpftrace as root can", name));
  if (names_)
    if (auto variable = names_->variable(name);
        variable && script::resolve(*variable->type).kind == script::TypeKind::kEnum)
      return from_operand(e, *variable);
  if (has_hit_ && !names_) return at(e, fmt::format("there is no '{}'", name));
  return at(e, fmt::format("there is no '{}'", name));
}

}  // namespace blip::bt
