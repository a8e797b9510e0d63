// SPDX-License-Identifier: MIT
// A view is found for an object at an address that is not known (a register), and its nodes are looked at:
// `load(r + 8)` is a pointer at 8. So each way to find one is written once, in containers.cc.
#include "script/values/view_steps.h"

namespace blip::script {

namespace {

using collect::Where;

class Matcher {
 public:
  explicit Matcher(const Type& type) : object_(builder_.add({.op = Op::kRegister})), type_(type) {}

  std::optional<ViewStep> run(const FindType& find_type) {
    Access access(builder_, types_);
    const Operand whole{.kind = Operand::Kind::kMemory, .type = &type_, .node = object_};
    const auto view = find_view(access, whole, find_type);
    if (!view || !view->element || view->most != UINT64_MAX) return std::nullopt;
    auto step = match(*view);
    if (!step) return std::nullopt;
    step->is_text = view->is_text;
    return ViewStep{*step, view->element};
  }

 private:
  const Node& node(uint32_t n) const { return builder_.node(n); }

  std::optional<uint32_t> offset(uint32_t n) const {
    if (n == object_) return 0;
    const Node& sum = node(n);
    if (sum.op != Op::kAdd || sum.a != object_) return std::nullopt;
    const auto constant = builder_.constant_of(sum.b);
    return constant && *constant < UINT16_MAX ? std::optional(static_cast<uint32_t>(*constant))
                                              : std::nullopt;
  }
  std::optional<uint32_t> loaded(uint32_t n) const {
    const Node& load = node(n);
    return load.op == Op::kLoad && load.width == sizeof(uint64_t) ? offset(load.a) : std::nullopt;
  }

  std::optional<collect::Step> match(const View& view) const {
    const auto data = loaded(view.data);
    if (!data) return match_short(view);
    collect::Step step{.where = Where::kCounted, .a = *data, .b = collect::kNoSize};
    if (const auto constant = builder_.constant_of(view.length)) {
      if (*constant > UINT32_MAX || view.is_text) return std::nullopt;
      step.count = static_cast<uint32_t>(*constant);
      return step;
    }
    if (const auto length = loaded(view.length)) {
      step.b = *length;
      return step;
    }
    if (const auto end = match_end(view)) {
      step.where = Where::kBetween;
      step.b = *end;
      return step;
    }
    if (!is_before(view)) return std::nullopt;
    step.where = Where::kShared;
    return step;
  }

  std::optional<uint32_t> match_end(const View& view) const {
    const Node* length = &node(view.length);
    if (length->op == Op::kDiv && builder_.constant_of(length->b)) length = &node(length->a);
    return length->op == Op::kSub && length->b == view.data ? loaded(length->a) : std::nullopt;
  }

  // libstdc++ before C++11: the length lies before the text.
  bool is_before(const View& view) const {
    constexpr uint64_t kBefore = 24;
    const Node& load = node(view.length);
    if (load.op != Op::kLoad || !view.is_text) return false;
    const Node& at = node(load.a);
    return at.op == Op::kAdd && at.a == view.data && builder_.constant_of(at.b) == 0 - kBefore;
  }

  // libc++: is_long ? pointer : inside, is_long ? length : first byte >> 1.
  std::optional<collect::Step> match_short(const View& view) const {
    const Node &data = node(view.data), &length = node(view.length);
    if (data.op != Op::kSelect || length.op != Op::kSelect || data.a != length.a) return std::nullopt;
    const Node& is_long = node(data.a);
    if (is_long.op != Op::kAnd || builder_.constant_of(is_long.b) != 1U) return std::nullopt;
    const Node& flag = node(is_long.a);
    const auto pointer = loaded(data.b), size = loaded(length.b), inside = offset(data.c);
    const bool is_first = flag.op == Op::kLoad && flag.width == 1 && offset(flag.a) == 0U;
    if (!is_first || !pointer || !size || !inside) return std::nullopt;
    return collect::Step{.where = Where::kShort, .a = *pointer, .b = *size, .c = *inside};
  }

  Builder builder_;
  TypeArena types_;
  uint32_t object_;
  const Type& type_;
};

}  // namespace

std::optional<ViewStep> find_view_step(const Type& type, const FindType& find_type) {
  return is_aggregate(resolve(type)) ? Matcher(type).run(find_type) : std::nullopt;
}

}  // namespace blip::script
