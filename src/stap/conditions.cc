// SPDX-License-Identifier: MIT
#include "stap/conditions.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace blip::stap {

namespace {

constexpr std::string_view kOrders[] = {"<", "<=", "==", "!=", ">=", ">"};

Error at(const Token& token, std::string_view message) { return error_at(token.spot, message); }

// `order` is below, at or above 0, as the left side is to the right one.
Result<bool> compare(int order, const Token& sign) {
  if (sign.is_sign("<")) return order < 0;
  if (sign.is_sign("<=")) return order <= 0;
  if (sign.is_sign("==")) return order == 0;
  if (sign.is_sign("!=")) return order != 0;
  if (sign.is_sign(">=")) return order >= 0;
  if (sign.is_sign(">")) return order > 0;
  return at(sign, "a comparison such as == or >= is expected here");
}

Result<bool> equality(bool is_equal, const Token& sign) {
  if (sign.is_sign("==")) return is_equal;
  if (sign.is_sign("!=")) return !is_equal;
  return at(sign, "only == and != compare these");
}

Status expect_text(const Token& token) {
  if (token.kind == TokenKind::kText) return {};
  return at(token, "a text in quotes is expected here");
}

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

std::optional<int64_t> number_of(const std::string& text) {
  if (text.empty()) return 0;
  char* end = nullptr;
  errno = 0;
  const auto value = static_cast<int64_t>(std::strtoull(text.c_str(), &end, 0));
  if (errno != 0 || *end != 0) return std::nullopt;
  return value;
}

Result<int64_t> number(const Token& token) {
  const auto value = number_of(token.text);
  if (!value || token.kind != TokenKind::kNumber) return at(token, "a number is expected here");
  return *value;
}

Result<bool> version(const std::string& ours, const Token& sign, const Token& right) {
  TRY_OK(expect_text(right));
  if (right.text.find_first_of("*?[") == std::string::npos)
    return compare(strverscmp(ours.c_str(), right.text.c_str()), sign);
  if (!sign.is_sign("==") && !sign.is_sign("!=") &&
      std::find(std::begin(kOrders), std::end(kOrders), sign.text) != std::end(kOrders))
    return at(sign, "a pattern has no order: compare it by == or !=");
  TRY(const bool result, equality(matches(right.text, ours), sign));
  return result;
}

Result<bool> pattern(const std::string& ours, const Token& sign, const Token& right) {
  TRY_OK(expect_text(right));
  return equality(matches(right.text, ours), sign);
}

Result<bool> guru(const Settings& settings, const Token& sign, const Token& right) {
  TRY(const int64_t wanted, number(right));
  if (wanted != 0 && wanted != 1) return at(right, "guru_mode is 0 or 1");
  return equality(wanted == (settings.is_guru ? 1 : 0), sign);
}

int order(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

// blip knows no options of the kernel: each is empty, as one that is not set.
Result<bool> option(const Token& sign, const Token& right) {
  if (right.kind == TokenKind::kText) return pattern("", sign, right);
  if (right.kind == TokenKind::kNumber) {
    TRY(const int64_t wanted, number(right));
    return compare(order(0, wanted), sign);
  }
  if (right.kind == TokenKind::kName && right.text.starts_with("CONFIG_")) return compare(0, sign);
  return at(right, "an option of the kernel is compared with a text, a number or another option");
}

std::string base_release(const std::string& release) { return release.substr(0, release.find('-')); }

}  // namespace

Result<bool> holds(const Settings& settings, const Token& left, const Token& sign, const Token& right) {
  if (left.kind == TokenKind::kName) {
    const std::string& name = left.text;
    if (name == "kernel_v") return version(base_release(settings.kernel_release), sign, right);
    if (name == "kernel_vr") return version(settings.kernel_release, sign, right);
    if (name == "systemtap_v") return version(kVersion, sign, right);
    if (name == "systemtap_privilege") {
      TRY_OK(expect_text(right));
      return equality(right.text == "stapdev", sign);
    }
    if (name == "guru_mode") return guru(settings, sign, right);
    if (name == "arch") return pattern(settings.architecture, sign, right);
    if (name == "runtime") return pattern("dyninst", sign, right);
    if (name.starts_with("CONFIG_")) return option(sign, right);
  }
  if (left.kind == TokenKind::kText) {
    TRY_OK(expect_text(right));
    return compare(left.text.compare(right.text), sign);
  }
  if (left.kind == TokenKind::kNumber) {
    TRY(const int64_t a, number(left));
    TRY(const int64_t b, number(right));
    return compare(order(a, b), sign);
  }
  return at(left,
            "a condition begins with arch, kernel_v, kernel_vr, systemtap_v, systemtap_privilege, runtime, "
            "guru_mode, CONFIG_..., "
            "a text or a number");
}

}  // namespace blip::stap
