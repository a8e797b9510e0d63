// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>

#include "bt/tree_parser.h"

namespace blip::bt {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

constexpr std::string_view kLate = "definitions in C come before probes and macros";

}  // namespace

Result<Tree> TreeParser::tree() {
  Tree tree;
  here();
  if (scan_.peek() == '#' && scan_.peek(1) == '!')
    while (!scan_.at_end() && scan_.peek() != '\n') scan_.advance();
  TRY_OK(preamble(tree));
  while (here(), !scan_.at_end()) TRY_OK(item(tree));
  return tree;
}

Status TreeParser::preamble(Tree& tree) {
  while (here(), !scan_.at_end()) {
    const std::string_view word = scan_.peek_word();
    if (scan_.peek() == '#') {
      TRY_OK(preprocessor(tree));
    } else if ((word == "struct" || word == "union" || word == "enum") && is_definition()) {
      TRY_OK(definition(tree));
    } else {
      break;
    }
  }
  while (scan_.peek_word() == "config" || scan_.peek_word() == "import") {
    if (scan_.peek_word() == "import") {
      TRY_OK(import(tree));
      continue;
    }
    if (!tree.config.empty()) return scan_.error("there are two config blocks");
    TRY_OK(config(tree));
  }
  return {};
}

// #if that can be decided: bpftrace's own names. Its lines count or are passed over.
Status TreeParser::condition(std::string_view word, std::string_view rest) {
  const bool is_known = rest == "BPFTRACE_HAVE_BTF";
  if (word == "ifdef") conditions_.push_back(is_known);
  if (word == "ifndef") conditions_.push_back(!is_known);
  if (word == "else" && !conditions_.empty()) conditions_.back() = !conditions_.back();
  if (word == "endif" && !conditions_.empty()) conditions_.pop_back();
  if (std::find(conditions_.begin(), conditions_.end(), false) == conditions_.end()) return {};
  // On to the next line that may end this.
  for (unsigned depth = 0; !scan_.at_end();) {
    const size_t begin = scan_.at();
    size_t end = std::min(scan_.source().find('\n', begin), scan_.source().size());
    const std::string_view line = trimmed(scan_.source().substr(begin, end - begin));
    if (depth == 0 && (line.starts_with("#else") || line.starts_with("#endif"))) return {};
    if (line.starts_with("#if")) ++depth;
    if (line.starts_with("#endif")) --depth;
    scan_.go_to(std::min(end + 1, scan_.source().size()));
  }
  return scan_.error("an #endif is missing");
}

Status TreeParser::preprocessor(Tree& tree) {
  const size_t begin = scan_.at();
  std::string line;
  while (!scan_.at_end() && scan_.peek() != '\n') {
    if (scan_.peek() == '\\' && scan_.peek(1) == '\n') scan_.advance();
    line += scan_.peek() == '\n' ? ' ' : scan_.peek();
    scan_.advance();
  }
  const Range range = scan_.range(begin);
  std::string_view rest = trimmed(std::string_view(line).substr(1));
  const size_t end = std::min(rest.find_first_of(" \t<\""), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest = trimmed(rest.substr(end));
  if (word == "ifdef" || word == "ifndef" || word == "else" || word == "endif") return condition(word, rest);
  if (word == "define") {
    const size_t name = std::min(rest.find_first_of(" \t("), rest.size());
    if (name < rest.size() && rest[name] == '(')
      return scan_.error_at(range, "a #define with parameters is not understood: use a macro");
    tree.defines.emplace_back(rest.substr(0, name), trimmed(rest.substr(name)));
    return {};
  }
  if (word == "include") {
    if (rest.find("linux/") == std::string_view::npos && rest.find("net/") == std::string_view::npos &&
        rest.starts_with('<'))
      return {};  // types of C's library are known anyway
    tree.later.push_back(
        {"headers are not read: blip takes types from the program's debugging information, or "
         "define the struct here",
         range});
    return {};
  }
  if (word == "pragma" || word == "undef") return {};
  return scan_.error_at(range, fmt::format("#{} is not understood", word));
}

// "struct X {", and not a probe.
bool TreeParser::is_definition() {
  for (size_t at = scan_.at(); at < scan_.source().size(); ++at) {
    const char c = scan_.char_at(at);
    if (c == '{') return true;
    if (c == ':' || c == '/' || c == ',' || c == ';') return false;
  }
  return false;
}

Status TreeParser::definition(Tree& tree) {
  const size_t begin = scan_.at();
  unsigned depth = 0;
  do {
    here();
    if (scan_.at_end()) return scan_.error(begin, "the definition has no end: a '}' is missing");
    depth += scan_.peek() == '{' ? 1 : 0;
    depth -= scan_.peek() == '}' ? 1 : 0;
    const bool was_close = scan_.peek() == '}';
    scan_.advance();
    if (depth == 0 && was_close) break;
  } while (true);
  // Attributes may follow: __attribute__((packed)).
  for (size_t end = scan_.at();; end = scan_.at()) {
    if (!scan_.accept_word("__attribute__")) {
      scan_.go_to(end);
      break;
    }
    here();
    if (scan_.peek() != '(' || scan_.peek(1) != '(')
      return scan_.error("attributes are in two pairs of parentheses");
    unsigned open = 0;
    do {
      if (scan_.at_end() || scan_.peek() == '{') return scan_.error("a ')' is missing here");
      open += scan_.peek() == '(' ? 1 : 0;
      open -= scan_.peek() == ')' ? 1 : 0;
      scan_.advance();
    } while (open > 0);
  }
  tree.definitions.emplace_back(scan_.source().substr(begin, scan_.at() - begin), scan_.range(begin));
  scan_.accept(";");
  return {};
}

Status TreeParser::config(Tree& tree) {
  scan_.accept_name();
  TRY_OK(expect("="));
  TRY_OK(expect("{"));
  while (!scan_.accept("}")) {
    const size_t begin = here();
    auto name = scan_.accept_name();
    if (!name) return scan_.error("the name of a setting is missing here");
    ConfigItem item{.name = *std::move(name)};
    TRY_OK(expect("="));
    here();
    if (scan_.peek() == '"') {
      TRY(item.value, scan_.text());
      item.is_text = true;
    } else if (goes_on_in_name(scan_.peek())) {
      item.value = scan_.name_here();
    } else {
      return scan_.error("a value is missing here");
    }
    item.range = scan_.range(begin);
    tree.config.push_back(std::move(item));
    if (here(); scan_.peek() != '}') TRY_OK(expect(";"));
  }
  scan_.accept(";");
  return {};
}

Status TreeParser::item(Tree& tree) {
  const std::string_view word = scan_.peek_word();
  if (scan_.peek() == '#') return scan_.error(kLate);
  if ((word == "struct" || word == "union" || word == "enum") && is_definition()) return scan_.error(kLate);
  if (word == "macro") return macro(tree);
  if (word == "let") return map_declaration(tree);
  if (word == "config") return scan_.error("the config block comes before probes and macros");
  if (word == "import") return scan_.error("imports come before probes and macros");
  if (word == "fn") return function(tree);
  return probe(tree);
}

Status TreeParser::macro(Tree& tree) {
  scan_.accept_name();
  const size_t begin = here();
  auto name = scan_.accept_name();
  if (!name) return scan_.error("the name of the macro is missing here");
  Macro macro{.name = *std::move(name)};
  macro.range = scan_.range(begin);
  TRY_OK(expect("("));
  if (!scan_.accept(")")) {
    do {
      const size_t at = here();
      ExprPtr parameter;
      if (scan_.peek() == '$') {
        TRY(parameter, variable(at));
      } else if (scan_.peek() == '@') {
        scan_.advance();
        parameter = make(Kind::kMap, at);
        parameter->text = scan_.name_here();
      } else if (auto plain = scan_.accept_name()) {
        if (is_builtin(*plain)) return scan_.error(at, fmt::format("'{}' has a meaning already", *plain));
        parameter = make(Kind::kName, at);
        parameter->text = *std::move(plain);
      } else {
        return scan_.error("a parameter is missing here: $x, @x or x");
      }
      macro.parameters.push_back(std::move(parameter));
    } while (scan_.accept(","));
    TRY_OK(expect(")"));
  }
  TRY(macro.body, block(true));
  tree.macros.push_back(std::move(macro));
  return {};
}

// import "path";
Status TreeParser::import(Tree& tree) {
  const size_t begin = here();
  scan_.accept_name();
  here();
  if (scan_.peek() != '"') return scan_.error("a path in quotes is missing here");
  TRY_OK(scan_.text());
  TRY_OK(expect(";"));
  tree.later.push_back({"import is not there yet", scan_.range(begin)});
  return {};
}

// fn name($a: type, ...) : type { ... }
Status TreeParser::function(Tree& tree) {
  const size_t begin = here();
  scan_.accept_name();
  if (!scan_.accept_name()) return scan_.error("the name of the function is missing here");
  TRY_OK(expect("("));
  if (!scan_.accept(")")) {
    do {
      const size_t name = here();
      if (scan_.peek() != '$') return scan_.error("a parameter is missing here: $x: type");
      TRY_OK(variable(name));
      TRY_OK(expect(":"));
      TRY(const auto parameter, type_or_typeof());
    } while (scan_.accept(","));
    TRY_OK(expect(")"));
  }
  TRY_OK(expect(":"));
  TRY(const auto result, type());
  if (!result) return scan_.error("the type of the result is missing here");
  const Range range = scan_.range(begin);
  TRY_OK(block(false));
  tree.later.push_back({"functions of the script are not there yet: use a macro", range});
  return {};
}

Status TreeParser::map_declaration(Tree& tree) {
  const size_t begin = here();
  scan_.accept_name();
  here();
  if (scan_.peek() != '@')
    return scan_.error("outside of probes only maps are declared: let @a = hash(100);");
  scan_.advance();
  MapDeclaration map{.name = scan_.name_here()};
  TRY_OK(expect("="));
  auto kind = scan_.accept_name();
  if (!kind) return scan_.error("the kind of the map is missing here: hash(100)");
  map.kind = *std::move(kind);
  TRY_OK(expect("("));
  here();
  if (scan_.peek() < '0' || scan_.peek() > '9') return scan_.error("the number of keys is missing here");
  TRY(map.limit, scan_.number());
  TRY_OK(expect(")"));
  scan_.accept(";");
  map.range = scan_.range(begin);
  tree.maps.push_back(std::move(map));
  return {};
}

// All up to what can only come behind it. A '/' behind a ':' is one of a path.
Result<AttachPoint> TreeParser::attach_point() {
  const size_t begin = here();
  AttachPoint point;
  while (!scan_.at_end()) {
    const char c = scan_.peek();
    if (c == '{' || c == ',' || is_blank(c)) break;
    const bool is_comment = scan_.peek(1) == '/' || scan_.peek(1) == '*';
    if (c == '/' && !point.text.empty() && point.text.find(':') == std::string::npos && !is_comment) break;
    point.text += c;
    scan_.advance();
    if (c != '"') continue;
    while (!scan_.at_end() && scan_.peek() != '"') {
      if (scan_.peek() == '\\') {
        point.text += '\\';
        scan_.advance();
      }
      point.text += scan_.peek();
      scan_.advance();
    }
    if (!scan_.at_end()) point.text += '"';
    scan_.advance();
  }
  if (point.text.empty())
    return scan_.error("a probe is missing here: BEGIN, uprobe:FILE:FUNCTION, interval:s:1");
  point.range = scan_.range(begin);
  return point;
}

Status TreeParser::probe(Tree& tree) {
  const size_t begin = here();
  ProbeBlock probe;
  do {
    here();
    if (!probe.points.empty() && (scan_.peek() == '/' || scan_.peek() == '{')) break;
    TRY(AttachPoint point, attach_point());
    probe.points.push_back(std::move(point));
  } while (scan_.accept(","));
  probe.range = {static_cast<uint32_t>(begin), probe.points.back().range.end};
  here();
  if (scan_.peek() == '/') {
    scan_.advance();
    TRY(probe.predicate, expression());
    TRY_OK(expect("/"));
  }
  TRY(probe.body, block(false));
  tree.probes.push_back(std::move(probe));
  return {};
}

Result<Tree> parse_tree(std::string_view source) { return TreeParser(source).tree(); }

}  // namespace blip::bt
