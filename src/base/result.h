// SPDX-License-Identifier: MIT
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace blip {

// The outcome of something that can fail: a T or an Error. The only place that names tl::expected.
template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result(Error error) : Base(tl::unexpect, std::move(error)) {}  // NOLINT: implicit by design

  // The same failure with "context: " in front; a success is passed through.
  Result with_context(const std::string& context) && {
    if (this->has_value()) return std::move(*this);
    return this->error().with_context(context);
  }
};

using Status = Result<void>;

}  // namespace blip

#define BLIP_CONCAT_(a, b) a##b
#define BLIP_CONCAT(a, b) BLIP_CONCAT_(a, b)

// TRY(auto x, f()): x is the value of f(), or the enclosing function returns f()'s error.
#define TRY(decl, expr)                                                                    \
  auto BLIP_CONCAT(try_, __LINE__) = (expr);                                               \
  if (!BLIP_CONCAT(try_, __LINE__)) return std::move(BLIP_CONCAT(try_, __LINE__)).error(); \
  decl = *std::move(BLIP_CONCAT(try_, __LINE__))

// TRY_OK(f()): the enclosing function returns f()'s error, if any.
#define TRY_OK(expr)                                                                 \
  do {                                                                               \
    if (auto try_status = (expr); !try_status) return std::move(try_status).error(); \
  } while (0)
