// SPDX-License-Identifier: MIT
#include "stap/builtins.h"

namespace blip::stap {

namespace {

using How = Builtin::How;
using script::BlockOp;

constexpr Builtin observe(std::string_view name, BlockOp op) {
  return {name, "", 'l', How::kObserve, {}, op};
}
constexpr Builtin apply(std::string_view name, std::string_view parameters, char result,
                        std::string_view library) {
  return {name, parameters, result, How::kApply, library};
}
constexpr Builtin of_pid(std::string_view name, std::string_view parameters, char result,
                         std::string_view library) {
  return {name, parameters, result, How::kOfPid, library};
}
constexpr Builtin own(std::string_view name, std::string_view parameters, char result) {
  return {name, parameters, result};
}
constexpr Builtin at_hit(std::string_view name, std::string_view parameters, char result) {
  return {.name = name, .parameters = parameters, .result = result, .needs_hit = true};
}

// Names that begin with __ are for the scripts of the tapset.
constexpr Builtin kAll[] = {
    // What a script says and does.
    own("log", "s", 'v'),
    own("warn", "s", 'v'),
    own("error", "s", 'v'),
    own("exit", "", 'v'),
    own("abort", "", 'v'),

    // Who is there.
    observe("pid", BlockOp::kPid),
    observe("tid", BlockOp::kTid),
    observe("cpu", BlockOp::kCpu),
    observe("uid", BlockOp::kUid),
    observe("euid", BlockOp::kUid),
    observe("gid", BlockOp::kGid),
    observe("egid", BlockOp::kGid),
    of_pid("ppid", "", 'l', "parent_pid"),
    own("execname", "", 's'),
    apply("target", "", 'l', "target_pid"),
    of_pid("env_var", "s", 's', "environment"),
    of_pid("__argument_count", "", 'l', "argument_count"),
    of_pid("__argument", "l", 's', "command_argument"),

    // Where it is.
    own("pp", "", 's'),
    own("pn", "", 's'),
    own("ppfunc", "", 's'),
    own("probefunc", "", 's'),
    own("probe_type", "", 's'),
    own("is_return", "", 'l'),
    at_hit("uaddr", "", 'l'),
    at_hit("addr", "", 'l'),
    of_pid("usymname", "l", 's', "symbol_name"),
    of_pid("symname", "l", 's', "symbol_name"),
    of_pid("usymdata", "l", 's', "symbol_data"),
    of_pid("symdata", "l", 's', "symbol_data"),
    of_pid("umodname", "l", 's', "module_at"),
    of_pid("__file_at", "l", 's', "file_at"),
    of_pid("__line_at", "l", 'l', "line_at"),
    own("__stack", "", 'l'),
    apply("__stack_depth", "l", 'l', "stack_depth"),
    apply("__stack_frame", "ll", 'l', "stack_frame"),

    // When.
    own("gettimeofday_ns", "", 'l'),
    own("get_cycles", "", 'l'),
    own("local_clock_ns", "", 'l'),
    apply("ctime", "l", 's', "ctime"),
    apply("tz_ctime", "l", 's', "local_ctime"),
    apply("tz_gmtoff", "", 'l', "zone_offset"),
    apply("tz_name", "", 's', "zone_name"),

    // Texts.
    apply("strlen", "s", 'l', "length"),
    apply("substr", "sll", 's', "substring"),
    apply("isinstr", "ss", 'l', "contains"),
    apply("strpos", "ss", 'l', "position"),
    apply("stringat", "sl", 'l', "byte_at"),
    apply("str_replace", "sss", 's', "replace"),
    apply("__strtol", "sl", 'l', "parse_number"),
    apply("text_str", "s", 's', "escape"),
    apply("text_strn", "sll", 's', "escape_some"),
    apply("string_quoted", "s", 's', "quote"),
    apply("errno_str", "l", 's', "errno_name"),
    apply("randint", "l", 'l', "random"),
    own("matched", "l", 's'),
    own("ngroups", "", 'l'),

    // The target's memory and registers.
    at_hit("user_string", "l", 's'),
    at_hit("user_string", "ls", 's'),
    at_hit("user_string_warn", "l", 's'),
    at_hit("user_string_warn", "ls", 's'),
    at_hit("user_string2", "ls", 's'),
    at_hit("user_string2_warn", "ls", 's'),
    at_hit("user_string_nofault", "l", 's'),
    at_hit("user_string_quoted", "l", 's'),
    at_hit("user_string_n", "ll", 's'),
    at_hit("user_string_n", "lls", 's'),
    at_hit("user_string_n_warn", "ll", 's'),
    at_hit("user_string_n_warn", "lls", 's'),
    at_hit("user_string_n2", "lls", 's'),
    at_hit("user_string_n2_warn", "lls", 's'),
    at_hit("user_string_n_nofault", "ll", 's'),
    at_hit("user_string_n_quoted", "ll", 's'),
    at_hit("user_char", "l", 'l'),
    at_hit("user_char_error", "l", 'l'),
    at_hit("user_char_warn", "l", 'l'),
    at_hit("user_short", "l", 'l'),
    at_hit("user_short_error", "l", 'l'),
    at_hit("user_short_warn", "l", 'l'),
    at_hit("user_ushort", "l", 'l'),
    at_hit("user_ushort_error", "l", 'l'),
    at_hit("user_ushort_warn", "l", 'l'),
    at_hit("user_int", "l", 'l'),
    at_hit("user_int_error", "l", 'l'),
    at_hit("user_int_warn", "l", 'l'),
    at_hit("user_uint", "l", 'l'),
    at_hit("user_uint_error", "l", 'l'),
    at_hit("user_uint_warn", "l", 'l'),
    at_hit("user_long", "l", 'l'),
    at_hit("user_long_error", "l", 'l'),
    at_hit("user_long_warn", "l", 'l'),
    at_hit("user_ulong", "l", 'l'),
    at_hit("user_ulong_error", "l", 'l'),
    at_hit("user_ulong_warn", "l", 'l'),
    at_hit("user_int8", "l", 'l'),
    at_hit("user_uint8", "l", 'l'),
    at_hit("user_int16", "l", 'l'),
    at_hit("user_uint16", "l", 'l'),
    at_hit("user_int32", "l", 'l'),
    at_hit("user_uint32", "l", 'l'),
    at_hit("user_int64", "l", 'l'),
    at_hit("user_uint64", "l", 'l'),
    at_hit("int_arg", "l", 'l'),
    at_hit("uint_arg", "l", 'l'),
    at_hit("long_arg", "l", 'l'),
    at_hit("ulong_arg", "l", 'l'),
    at_hit("longlong_arg", "l", 'l'),
    at_hit("ulonglong_arg", "l", 'l'),
    at_hit("pointer_arg", "l", 'l'),
    at_hit("s32_arg", "l", 'l'),
    at_hit("u32_arg", "l", 'l'),
    at_hit("s64_arg", "l", 'l'),
    at_hit("u64_arg", "l", 'l'),
    at_hit("register", "s", 'l'),
    at_hit("u_register", "s", 'l'),
    at_hit("returnval", "", 'l'),
};

}  // namespace

std::span<const Builtin> builtins() { return kAll; }

}  // namespace blip::stap
