// SPDX-License-Identifier: MIT
// The fields that readers of a trace look for by name, because they show them apart from the others.
#pragma once

namespace blip::ctf {

inline constexpr char kPidField[] = "vpid";
inline constexpr char kTidField[] = "vtid";
inline constexpr char kCpuField[] = "cpu_id";  // of packets
inline constexpr char kIpField[] = "ip";
inline constexpr char kStackInfoField[] = "stack_info";
inline constexpr char kBacktraceField[] = "backtrace";

}  // namespace blip::ctf
