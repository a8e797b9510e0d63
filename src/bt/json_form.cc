// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "bt/show.h"
#include "bt/writer.h"

namespace blip::bt {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (byte < ' ')
      out += fmt::format("\\u{:04x}", byte);
    else
      out += c;
  }
  return out + '"';
}

// What a double cannot hold is a text.
template <typename T>
std::string number(T n) {
  std::string text = fmt::format("{}", n);
  return static_cast<T>(static_cast<double>(n)) == n ? text : quoted(text);
}

std::string show(const Shown& value);

std::string list(const Shown::List& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? "," : "") + show(values[i]);
  return out + ']';
}

struct AsJson {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(int64_t n) const { return number(n); }
  std::string operator()(uint64_t n) const { return number(n); }
  std::string operator()(const std::string& text) const { return quoted(text); }
  std::string operator()(const Shown::Symbol& s) const { return number(s.number); }
  std::string operator()(const Shown::Bytes& b) const {
    std::string out = "[";
    for (size_t i = 0; i < b.bytes.size(); ++i) out += fmt::format("{}{}", i ? "," : "", int{b.bytes[i]});
    return out + ']';
  }
  std::string operator()(const Shown::Tuple& t) const { return list(t.values); }
  std::string operator()(const Shown::Array& a) const { return list(a.values); }
  std::string operator()(const Shown::Record& r) const {
    std::string out = "{";
    for (size_t i = 0; i < r.fields.size(); ++i)
      out += (i ? ", " : "") + quoted(r.fields[i].name) + ": " + show(r.fields[i].value);
    return out + '}';
  }
};

std::string show(const Shown& value) { return std::visit(AsJson(), value.value); }

std::optional<int64_t> number_of(const Shown& value) {
  if (const auto* n = std::get_if<int64_t>(&value.value)) return *n;
  if (const auto* n = std::get_if<uint64_t>(&value.value)) return static_cast<int64_t>(*n);
  if (const auto* s = std::get_if<Shown::Symbol>(&value.value)) return static_cast<int64_t>(s->number);
  return std::nullopt;
}

// Bounds are closed here.
std::string show(const ShownHistogram& h) {
  std::string out = "[";
  for (size_t i = 0; i < h.counts.size(); ++i) {
    out += i ? ",{" : "{";
    if (i == 0 && h.lower) out += "\"min\": " + show(*h.lower) + ", ";
    if (i > 0) out += "\"min\": " + show(h.labels[i - 1]) + ", ";
    if (i < h.labels.size()) {
      const auto n = number_of(h.labels[i]);
      out += "\"max\": " + (n ? number(*n - 1) : show(h.labels[i])) + ", ";
    }
    out += fmt::format("\"count\": {}}}", h.counts[i]);
  }
  return out + ']';
}

std::string show(const ShownSeries& series) {
  std::string out = "[";
  for (const auto& p : series.points) {
    if (!p.value) continue;
    out += fmt::format(R"({}{{"interval_start":"{}.{:09}","value":{}}})", out.size() > 1 ? "," : "",
                       format_time(p.time, "%Y-%m-%dT%H:%M:%S"), p.time % 1'000'000'000, to_text(*p.value));
  }
  return out + ']';
}

// Keys are texts without blanks, and tuples without parentheses.
std::string key_text(const Shown& key) {
  std::string text = to_text(key);
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
  std::erase(text, ' ');
  return text;
}

class JsonForm final : public OutputForm {
 public:
  std::string map(const std::string& name, const ShownMap& map) const override {
    if (map.entries.empty()) return {};
    const ShownEntry& first = map.entries.front().second;
    const char* type = map.is_stats                                    ? "stats"
                       : std::holds_alternative<ShownHistogram>(first) ? "hist"
                       : std::holds_alternative<ShownSeries>(first)    ? "tseries"
                                                                       : "map";
    const auto entry = [](const ShownEntry& e) {
      return std::visit([](const auto& v) { return show(v); }, e);
    };
    std::string data;
    if (map.is_scalar) {
      data = entry(first);
    } else {
      data = "{";
      for (size_t i = 0; i < map.entries.size(); ++i)
        data +=
            (i ? ", " : "") + quoted(key_text(map.entries[i].first)) + ": " + entry(map.entries[i].second);
      data += '}';
    }
    return fmt::format(R"({{"type": "{}", "data": {{{}: {}}}}})"
                       "\n",
                       type, quoted(name), data);
  }
  std::string value(const Shown& value) const override {
    return fmt::format(R"({{"type": "value", "data": {}}})"
                       "\n",
                       show(value));
  }
  std::string text(std::string_view kind, const std::string& text) const override {
    return fmt::format(R"({{"type": "{}", "data": {}}})"
                       "\n",
                       kind, quoted(text));
  }
};

}  // namespace

std::unique_ptr<OutputForm> make_json_form() { return std::make_unique<JsonForm>(); }

}  // namespace blip::bt
