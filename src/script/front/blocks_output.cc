// SPDX-License-Identifier: MIT
#include "script/front/blocks_output.h"

#include <fmt/format.h>

namespace blip::script {

namespace {

using state::ValueType;

std::string text_of(char how, const Argument& a) {
  switch (how) {
    case 'd':
      return fmt::format("{}", static_cast<int64_t>(a.number));
    case 'u':
      return fmt::format("{}", a.number);
    case 'x':
      return fmt::format("{:x}", a.number);
    case 'c':
      return std::string(1, static_cast<char>(a.number));
    case 's':
      return std::string(a.text);
    default:
      return {};
  }
}

std::string text_of(const state::MapType& type, const state::Map& map, const state::Key& key) {
  if (type.value == ValueType::kText) return std::string(map.text(key));
  if (type.value == ValueType::kNumber)
    return type.is_unsigned ? fmt::format("{}", map.number(key))
                            : fmt::format("{}", static_cast<int64_t>(map.number(key)));
  const state::Stats& s = map.stats(key);
  return fmt::format("count {} sum {} min {} max {}", s.count, static_cast<int64_t>(s.sum),
                     static_cast<int64_t>(s.min), static_cast<int64_t>(s.max));
}

std::string text_of_key(const state::MapType& type, std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < type.key.size(); ++i) {
    const state::KeyComponent c = state::component_of(bytes, type.key, i);
    text += i == 0 ? "[" : ", ";
    text += type.key[i] == ValueType::kText ? std::string(c.text)
                                            : fmt::format("{}", static_cast<int64_t>(c.number));
  }
  return text.empty() ? text : text + "]";
}

}  // namespace

std::string BlocksOutput::sprint(uint32_t format, std::span<const Argument> arguments) {
  const std::string& text = context_.program.formats[format].text;
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      out += text[i];
    } else if (text[++i] == '%') {
      out += '%';
    } else if (next < arguments.size()) {
      out += text_of(text[i], arguments[next++]);
    }
  }
  return out;
}

void BlocksOutput::emit(uint32_t format, std::span<const Argument> arguments) {
  context_.writer.write(sprint(format, arguments));
}

void BlocksOutput::print(uint32_t which, const state::Key* only) {
  const state::Map& map = context_.maps[which];
  const state::MapType& type = map.type();
  const auto line = [&](const state::Key& key) {
    context_.writer.write(
        fmt::format("{}{}: {}\n", type.name, text_of_key(type, key.bytes()), text_of(type, map, key)));
  };
  if (only || type.key.empty()) return line(only ? *only : state::Key());
  for (const state::Map::Step& step : map.walk({}, UINT64_MAX)) {
    state::Key key;
    for (size_t i = 0; i < type.key.size(); ++i) {
      const state::KeyComponent c = map.key_of(step, i);
      if (type.key[i] == ValueType::kText) {
        key.add(c.text);
      } else {
        key.add(c.number);
      }
    }
    line(key);
  }
}

ScriptOutput::Next BlocksOutput::told(size_t probe, const Outcome& outcome, uint64_t) {
  if (outcome.failure != Failure::kNothing)
    context_.writer.warn(fmt::format("probe {}: {}", probe, outcome.message));
  return Next::kGoOn;
}

}  // namespace blip::script
