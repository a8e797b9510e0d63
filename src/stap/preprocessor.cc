// SPDX-License-Identifier: MIT
#include "stap/preprocessor.h"

#include <fmt/core.h>

#include "stap/conditions.h"

namespace blip::stap {

// A macro that is being read.
struct Activation {
  std::shared_ptr<const Macro> macro;
  Spot spot{};  // where it was named
  Macros arguments{};
  size_t at = 0;
};

namespace {

constexpr size_t kMaxNesting = 200, kMaxTokens = 1 << 20;

class Preprocessor {
 public:
  Preprocessor(std::vector<Token> tokens, const Settings& settings, const Macros& library, Macros& defined)
      : tokens_(std::move(tokens)), settings_(settings), library_(library), defined_(defined) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> result;
    for (;;) {
      TRY(Token token, next());
      if (result.size() == kMaxTokens) return error_at(token.spot, "macros make the script too long");
      const bool is_end = token.kind == TokenKind::kEnd;
      result.push_back(std::move(token));
      if (is_end) return result;
    }
  }

 private:
  enum class Branch : uint8_t { kThen, kElse };
  struct Condition {
    Spot spot;
    Branch branch;
  };

  // A token as it is written; the end of a macro's body is none.
  const Token* raw() {
    if (stack_.empty()) return &tokens_[at_ + 1 < tokens_.size() ? at_++ : at_];
    Activation& a = *stack_.back();
    return a.at < a.macro->body.size() ? &a.macro->body[a.at++] : nullptr;
  }

  // What comes from a macro is shown where the macro is named.
  Token placed(const Token& token) const {
    Token result = token;
    if (!stack_.empty()) result.spot = stack_.front()->spot;
    return result;
  }

  // The next token with macros replaced.
  Result<Token> expanded() {
    for (;;) {
      if (++taken_ > 4 * kMaxTokens) return error_at(tokens_[at_].spot, "macros make the script too long");
      const Token* raw_token = raw();
      if (raw_token == nullptr) {
        stack_.pop_back();
        continue;
      }
      Token token = placed(*raw_token);
      if (!token.is_at_word()) return token;
      if (token.text == "@define") {
        TRY_OK(define(token));
        continue;
      }
      const auto macro = find(std::string_view(token.text).substr(1));
      if (macro == nullptr) return token;
      TRY_OK(activate(token, macro));
    }
  }

  std::shared_ptr<const Macro> find(std::string_view name) const {
    const auto in = [&](const Macros& macros) -> std::shared_ptr<const Macro> {
      const auto found = macros.find(name);
      return found == macros.end() ? nullptr : found->second;
    };
    const Activation* active = stack_.empty() ? nullptr : stack_.back().get();
    if (active != nullptr)
      if (auto argument = in(active->arguments)) return argument;
    if (active == nullptr || !active->macro->is_of_library)
      if (auto macro = in(defined_)) return macro;
    return in(library_);
  }

  Status activate(const Token& token, const std::shared_ptr<const Macro>& macro) {
    if (stack_.size() >= kMaxNesting)
      return error_at(token.spot, fmt::format("the macro {} is nested too deep", token.text));
    auto active = std::make_shared<Activation>();
    active->macro = macro;
    active->spot = token.spot;
    if (macro->written_in != nullptr) active->arguments = macro->written_in->arguments;
    if (!macro->parameters.empty()) TRY_OK(take_arguments(token, *active));
    stack_.push_back(std::move(active));
    return {};
  }

  Status take_arguments(const Token& name, Activation& active) {
    const auto& parameters = active.macro->parameters;
    const Token* open = raw();
    if (open == nullptr || !open->is_sign("("))
      return error_at(name.spot, fmt::format("the macro {} takes {} argument{} in parentheses", name.text,
                                             parameters.size(), parameters.size() == 1 ? "" : "s"));
    for (size_t i = 0; i < parameters.size(); ++i) {
      auto argument = std::make_shared<Macro>();
      argument->spot = name.spot;
      argument->is_argument = true;
      if (!stack_.empty()) {
        argument->written_in = stack_.back();
        argument->is_of_library = stack_.back()->macro->is_of_library;
      }
      TRY(const char end, take_argument(name, argument->body));
      const bool is_last = i + 1 == parameters.size();
      if (is_last != (end == ')'))
        return error_at(name.spot,
                        fmt::format("the macro {} takes {} argument{}, not {}", name.text, parameters.size(),
                                    parameters.size() == 1 ? "" : "s", is_last ? "more" : "less"));
      active.arguments[parameters[i]] = std::move(argument);
    }
    return {};
  }

  // The sign that ends it.
  Result<char> take_argument(const Token& name, std::vector<Token>& body) {
    for (size_t nesting = 0;;) {
      const Token* token = raw();
      if (token == nullptr || token->kind == TokenKind::kEnd)
        return error_at(name.spot,
                        fmt::format("the ')' that ends the arguments of {} is missing", name.text));
      const bool closes = token->is_sign(")") || token->is_sign("]");
      if (nesting == 0 && (token->is_sign(")") || token->is_sign(","))) return token->text[0];
      nesting += token->is_sign("(") || token->is_sign("[");
      if (nesting > 0 && closes) --nesting;
      body.push_back(*token);
    }
  }

  Status define(const Token& word) {
    if (!stack_.empty()) return error_at(word.spot, "a macro may not define another one");
    const Token name = *raw();
    if (name.kind != TokenKind::kName) return error_at(name.spot, "the name of the macro is expected here");
    if (name.text == "define") return error_at(name.spot, "@define cannot be defined again");
    if (const auto old = defined_.find(name.text); old != defined_.end())
      return error_at(name.spot, fmt::format("the macro @{} is there already, at {}", name.text,
                                             describe(old->second->spot)));
    auto macro = std::make_shared<Macro>();
    macro->spot = name.spot;
    const Token* token = raw();
    if (token->is_sign("(")) {
      TRY_OK(take_parameters(*macro));
      token = raw();
    }
    if (!token->is_sign("%(")) return error_at(token->spot, "the macro's body is expected here: %( ... %)");
    for (size_t nesting = 0;;) {
      const Token* part = raw();
      if (part->kind == TokenKind::kEnd) return error_at(name.spot, "the %) that ends this macro is missing");
      nesting += part->is_sign("%(");
      if (part->is_sign("%)") && nesting-- == 0) break;
      macro->body.push_back(*part);
    }
    defined_[name.text] = std::move(macro);
    return {};
  }

  Status take_parameters(Macro& macro) {
    for (;;) {
      const Token name = *raw();
      if (name.kind != TokenKind::kName)
        return error_at(name.spot, "the name of a parameter is expected here");
      macro.parameters.push_back(name.text);
      const Token sign = *raw();
      if (sign.is_sign(")")) return {};
      if (!sign.is_sign(",")) return error_at(sign.spot, "a ',' or ')' is missing here");
    }
  }

  // The next token with conditions decided.
  Result<Token> next() {
    for (;;) {
      TRY(Token token, expanded());
      if (token.kind == TokenKind::kEnd && !conditions_.empty())
        return error_at(conditions_.back().spot, "the %) that ends this condition is missing");
      if (token.is_sign("%?")) return error_at(token.spot, "a %( is missing before this");
      if (token.is_sign("%:")) {
        if (conditions_.empty()) return error_at(token.spot, "a %( is missing before this");
        if (conditions_.back().branch == Branch::kElse)
          return error_at(token.spot, "this condition has a second %:");
        conditions_.back().branch = Branch::kElse;
        TRY_OK(skip());
      } else if (token.is_sign("%)")) {
        if (conditions_.empty()) return error_at(token.spot, "a %( is missing before this");
        conditions_.pop_back();
      } else if (token.is_sign("%(")) {
        TRY_OK(begin(token));
      } else {
        return token;
      }
    }
  }

  Status begin(const Token& open) {
    TRY(const bool is_true, decide(open));
    conditions_.push_back({open.spot, Branch::kThen});
    return is_true ? Status() : skip();
  }

  // Up to the %? behind it.
  Result<bool> decide(const Token& open) {
    bool any = false, all = true;
    for (;;) {
      TRY(const Token left, expanded());
      TRY(const Token sign, expanded());
      TRY(const Token right, expanded());
      if (right.kind == TokenKind::kEnd) return error_at(open.spot, "this condition is not complete");
      TRY(const bool is_true, holds(settings_, left, sign, right));
      all = all && is_true;
      TRY(const Token then, expanded());
      if (then.is_sign("&&")) continue;
      any = any || all;
      all = true;
      if (then.is_sign("||")) continue;
      if (then.is_sign("%?")) return any;
      return error_at(then.spot, "a %? is expected behind the condition");
    }
  }

  // What the condition leaves out.
  Status skip() {
    for (size_t nesting = 0;;) {
      const Token* token = raw();
      if (token == nullptr) {
        stack_.pop_back();
        continue;
      }
      if (token->kind == TokenKind::kEnd)
        return error_at(conditions_.back().spot, "the %) that ends this condition is missing");
      if (token->is_sign("%(")) {
        ++nesting;
      } else if (token->is_sign("%)")) {
        if (nesting-- > 0) continue;
        conditions_.pop_back();
        return {};
      } else if (nesting == 0 && token->is_sign("%?")) {
        return error_at(placed(*token).spot, "a %( is missing before this");
      } else if (nesting == 0 && token->is_sign("%:")) {
        if (conditions_.back().branch == Branch::kElse)
          return error_at(placed(*token).spot, "this condition has a second %:");
        conditions_.back().branch = Branch::kElse;
        return {};
      }
    }
  }

  std::vector<Token> tokens_;
  const Settings& settings_;
  const Macros& library_;
  Macros& defined_;
  size_t at_ = 0, taken_ = 0;
  std::vector<std::shared_ptr<Activation>> stack_;
  std::vector<Condition> conditions_;
};

}  // namespace

Result<std::vector<Token>> preprocess(std::vector<Token> tokens, const Settings& settings,
                                      const Macros& library, Macros& defined) {
  return Preprocessor(std::move(tokens), settings, library, defined).run();
}

}  // namespace blip::stap
