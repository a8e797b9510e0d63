// SPDX-License-Identifier: MIT
#include "script/type_parser.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace blip::script {

namespace {

constexpr std::string_view kQualifiers[] = {"const", "volatile", "restrict"};
constexpr std::string_view kTags[] = {"struct", "union", "enum", "class"};
constexpr std::string_view kWords[] = {"void", "bool",   "_Bool", "char",   "short",   "int",
                                       "long", "signed", "float", "double", "unsigned"};
constexpr unsigned kMostPointers = 8;

bool is_one_of(const Token& token, std::span<const std::string_view> words) {
  return token.kind == TokenKind::kName && std::find(words.begin(), words.end(), token.text) != words.end();
}

using Words = std::map<std::string_view, int, std::less<>>;

// "long unsigned int" and "unsigned long" are one; empty: no such type.
std::string one_form(Words count) {
  const auto take = [&](std::string_view word) { return std::exchange(count[word], 0); };
  const int longs = take("long"), shorts = take("short"), unsigneds = take("unsigned"),
            signeds = take("signed");
  const int ints = take("int");
  std::string rest;
  for (const auto& [word, n] : count) {
    if (n > 1 || (n == 1 && !rest.empty())) return "";
    if (n == 1) rest = word;
  }
  if (rest == "_Bool") rest = "bool";
  const bool is_plain = longs + shorts + unsigneds + signeds + ints == 0;
  if (rest == "double" && longs == 1 && shorts + unsigneds + signeds + ints == 0) return "long double";
  if (rest == "char" && longs + shorts + ints == 0 && unsigneds + signeds <= 1)
    return unsigneds ? "unsigned char" : signeds ? "signed char" : "char";
  if (!rest.empty()) return is_plain ? rest : "";
  if (longs > 2 || shorts > 1 || (longs && shorts) || unsigneds + signeds > 1 || ints > 1) return "";
  return std::string(unsigneds ? "unsigned " : "") + (longs ? "long" : shorts ? "short" : "int");
}

Result<std::string> parse_builtin(TokenStream& tokens) {
  const Token first = tokens.peek();
  Words count;
  std::string written;
  while (is_one_of(tokens.peek(), kWords) || is_one_of(tokens.peek(), kQualifiers)) {
    const Token& word = tokens.take();
    if (is_one_of(word, kQualifiers)) continue;
    ++count[*std::find(std::begin(kWords), std::end(kWords), word.text)];
    written += (written.empty() ? "" : " ") + word.text;
  }
  std::string name = one_form(count);
  if (name.empty())
    return error_at(tokens.source(), {first.range.begin, tokens.last_end()},
                    fmt::format("'{}' is no type", written));
  return name;
}

}  // namespace

bool begins_type(const TokenStream& tokens, size_t ahead) {
  const Token& token = tokens.peek(ahead);
  return is_one_of(token, kQualifiers) || is_one_of(token, kTags) || is_one_of(token, kWords);
}

Result<TypeName> parse_type_name(TokenStream& tokens) {
  TypeName type{.range = tokens.peek().range};
  while (is_one_of(tokens.peek(), kQualifiers)) tokens.take();
  if (is_one_of(tokens.peek(), kWords)) {
    TRY(type.base, parse_builtin(tokens));
    type.is_builtin = true;
  } else {
    if (is_one_of(tokens.peek(), kTags)) type.base = tokens.take().text + " ";
    if (tokens.peek().kind != TokenKind::kName) return tokens.error("the name of a type should come here");
    type.base += tokens.take().text;
  }
  for (;;) {
    if (is_one_of(tokens.peek(), kQualifiers)) {
      tokens.take();
    } else if (tokens.peek().is("*")) {
      if (++type.pointers > kMostPointers) return tokens.error("too many pointers to pointers");
      tokens.take();
    } else {
      break;
    }
  }
  type.range.end = tokens.last_end();
  return type;
}

}  // namespace blip::script
