// SPDX-License-Identifier: MIT
#include "script/prototypes.h"

#include <map>
#include <mutex>

#include "base/check.h"
#include "script/type_parser.h"
#include "script/types/builtin_types.h"

namespace blip::script {

namespace {

// Types that a prototype needs, one of each name; they are never freed.
class TypeTable {
 public:
  const Type& find(const TypeName& name) {
    const std::lock_guard lock(mutex_);
    const Type* type = builtin_type(name.base);
    if (!type) type = &opaque(name.base);
    for (unsigned i = 0; i < name.pointers; ++i) type = &pointer_to(*type);
    return *type;
  }

 private:
  const Type& opaque(std::string_view name) {
    const size_t space = name.rfind(' ');
    const std::string bare(space == std::string_view::npos ? name : name.substr(space + 1));
    const auto [place, is_new] = opaque_.try_emplace(bare);
    if (is_new) place->second = {.kind = TypeKind::kStruct, .name = bare};
    return place->second;
  }
  const Type& pointer_to(const Type& target) {
    const auto [place, is_new] = pointers_.try_emplace(&target);
    if (is_new) place->second = {.kind = TypeKind::kPointer, .size = 8, .target = &target};
    return place->second;
  }

  std::mutex mutex_;
  std::map<std::string, Type> opaque_;
  std::map<const Type*, Type> pointers_;
};

TypeTable& types() {
  static auto& table = *new TypeTable;
  return table;
}

Result<Prototype::Parameter> parse_parameter(TokenStream& tokens, size_t index) {
  TRY(const TypeName type, parse_type_name(tokens));
  Prototype::Parameter parameter{.name = fmt::format("arg{}", index), .type = &types().find(type)};
  if (tokens.peek().kind == TokenKind::kName) parameter.name = tokens.take().text;
  return parameter;
}

bool accept_ellipsis(TokenStream& tokens) {
  if (!tokens.peek().is("..")) return false;
  tokens.take();
  tokens.accept(".");
  return true;
}

using Table = std::map<std::string, Prototype, std::less<>>;

const Table& table() {
  static const Table& all = *[] {
    auto* made = new Table;
    for (const std::string_view text : prototype_texts()) {
      auto prototype = parse_prototype(text);
      CHECK(prototype.has_value());
      std::string name = prototype->name;
      made->emplace(std::move(name), *std::move(prototype));
    }
    return made;
  }();
  return all;
}

}  // namespace

Result<Prototype> parse_prototype(std::string_view text) {
  TRY(TokenStream tokens, TokenStream::open(text));
  TRY(const TypeName result, parse_type_name(tokens));
  Prototype prototype{.result = &types().find(result)};
  if (tokens.peek().kind != TokenKind::kName) return tokens.error("the name of a function should come here");
  prototype.name = tokens.take().text;
  TRY_OK(tokens.expect("("));
  const bool is_empty = tokens.peek().is(")") || (tokens.peek().is_word("void") && tokens.peek(1).is(")"));
  if (is_empty && !tokens.peek().is(")")) tokens.take();
  if (!is_empty) do {
      if (accept_ellipsis(tokens)) {
        prototype.is_variadic = true;
        break;
      }
      TRY(Prototype::Parameter parameter, parse_parameter(tokens, prototype.parameters.size()));
      prototype.parameters.push_back(std::move(parameter));
    } while (tokens.accept(","));
  TRY_OK(tokens.expect(")"));
  if (tokens.peek().kind != TokenKind::kEnd) return tokens.error("the end should come here");
  return prototype;
}

const Prototype* find_prototype(std::string_view function) {
  function = function.substr(0, function.find('@'));
  const auto find = [](std::string_view name) -> const Prototype* {
    const auto found = table().find(name);
    return found == table().end() ? nullptr : &found->second;
  };
  for (const std::string_view prefix : {"", "__GI_", "__libc_", "_IO_", "__", "_"}) {
    if (!function.starts_with(prefix)) continue;
    std::string_view name = function.substr(prefix.size());
    if (const Prototype* found = find(name)) return found;
    if (!name.ends_with("64")) continue;
    name.remove_suffix(2);
    if (const Prototype* found = find(name)) return found;
  }
  return nullptr;
}

}  // namespace blip::script
