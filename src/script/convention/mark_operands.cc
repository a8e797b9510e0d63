// SPDX-License-Identifier: MIT
// The grammar, of which compilers write a part and people who write assembly another:
//
//   argument   [SIZE "@"] operand           SIZE: 4, -4, 8f; without it: the register's width, of memory 8
//   operand    "$" sum | "%" register | NUMBER | [SEGMENT ":"] [sum] ["(" [base] ["," index ["," scale]] ")"]
//   sum        ["-"] term { ("+" | "-") term }
//   term       NUMBER | SYMBOL ["@" RELOCATION] | "(" sum ")"
//
// A number alone is a constant, as gdb takes it. SYMBOL(%rip) is the symbol's address, and not relative to
// anything: the assembler would have made it so.
#include "script/convention/mark_operands.h"

#include <fmt/core.h>

#include <cctype>
#include <charconv>

#include "machine/registers.h"
#include "script/types/builtin_types.h"

namespace blip::script {

namespace {

constexpr int kDeepestSum = 32;  // of parentheses

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

// SIZE, with its '@'.
struct Size {
  uint32_t bytes = 0;  // 0: not said
  bool is_signed = false;
  bool is_float = false;
  size_t length = 0;  // of the text
};

Size parse_size(std::string_view text) {
  Size size;
  size_t at = text.starts_with('-') ? 1 : 0;
  const auto [end, failed] = std::from_chars(text.data() + at, text.data() + text.size(), size.bytes);
  if (failed != std::errc()) return {};
  size.is_signed = at == 1;
  at = static_cast<size_t>(end - text.data());
  size.is_float = at < text.size() && text[at] == 'f';
  if (size.is_float) ++at;
  if (at >= text.size() || text[at] != '@') return {};
  size.length = at + 1;
  return size;
}

// Operands of Intel's syntax ("DWORD PTR [rbp-4]") have blanks. They are not understood, but must count as
// one.
bool goes_on(std::string_view text) {
  constexpr std::string_view kIntel[] = {"BYTE", "WORD", "DWORD", "QWORD", "XMMWORD", "PTR", "OFFSET"};
  const std::string_view operand = text.substr(parse_size(text).length);
  for (const std::string_view word : kIntel)
    if (operand == word || operand.ends_with(" " + std::string(word))) return true;
  return false;
}

class OperandParser {
 public:
  OperandParser(std::string_view text, const Size& size, const MarkSymbols& symbols)
      : text_(text), size_(size), symbols_(symbols) {}

  // The place, and the size if the text does not say it.
  Place run() {
    Place place = operand();
    if (failed_ || at_ != text_.size()) return unknown_place(why_);
    return place;
  }
  uint32_t width() const { return width_; }

 private:
  struct Sum {
    uint64_t value = 0;
    bool has_symbol = false, is_thread_local = false;
  };

  bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool accept(char c) { return peek(c) && ++at_; }
  void expect(char c) {
    if (!accept(c)) fail();
  }
  void fail(Unknown why = Unknown::kOperand) {
    if (!failed_) why_ = why;
    failed_ = true;
  }
  std::string_view word() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Place operand() {
    if (text_.empty()) fail();
    if (accept('$')) return constant(sum().value);
    if (peek('%')) {
      const size_t begin = at_;
      ++at_;
      const std::string_view name = word();
      if (accept(':')) return memory(name);
      at_ = begin;
      return in_register();
    }
    return memory({});
  }

  Place constant(uint64_t value) const {
    Place place{.kind = Place::Kind::kValue};
    place.code.constant(value);
    return place;
  }

  Place in_register() {
    ++at_;  // %
    const std::string_view name = word();
    const machine::RegisterSet& registers = machine::host().registers;
    Place place{.kind = Place::Kind::kValue};
    if (const auto vector = machine::find_vector_register(registers, name)) {
      const auto bytes = static_cast<uint8_t>(size_.bytes == 4 ? 4 : 8);
      place.code.add({.op = Op::kVector, .width = bytes, .value = *vector});
      return place;
    }
    const auto found = machine::find_register(registers, name);
    if (!found) return fail(), place;
    width_ = static_cast<uint32_t>(found->size);
    const bool is_cut = size_.bytes != 0 && size_.bytes <= found->size;  // by its type
    part(is_cut && found->shift == 0 ? machine::RegisterPart{.number = found->number} : *found, place.code,
         size_.is_signed);
    return place;
  }

  // The value of the part in 64 bits.
  static uint32_t part(const machine::RegisterPart& found, Code& code, bool is_signed = false) {
    uint32_t node = code.add({.op = Op::kRegister, .value = found.number});
    if (found.shift != 0) {
      const uint32_t shift = code.constant(found.shift);
      node = code.add({.op = Op::kShr, .a = node, .b = shift});
    }
    if (found.size == 8) return node;
    return code.add(
        {.op = Op::kExtend, .width = static_cast<uint8_t>(found.size), .is_signed = is_signed, .a = node});
  }

  Place memory(std::string_view segment) {
    const bool begins_with_sum = at_ < text_.size() && !is_base();
    const Sum displacement = begins_with_sum ? sum() : Sum();
    if (segment.empty() && at_ == text_.size() && !displacement.has_symbol)
      return constant(displacement.value);
    Place place{.kind = Place::Kind::kAddress};
    if (!segment.empty() && segment != "fs") return fail(), place;
    if (displacement.is_thread_local != !segment.empty() && displacement.has_symbol) fail();
    std::optional<uint32_t> address;
    if (is_base()) add_registers(displacement, place.code, address);
    if (!segment.empty()) add(place.code, address, place.code.add({.op = Op::kThreadPointer}));
    if (!address || displacement.value != 0)
      add(place.code, address, place.code.constant(displacement.value));
    return place;
  }

  // "(%", "(,": what is in the parentheses is no sum.
  bool is_base() const {
    return peek('(') && at_ + 1 < text_.size() && (text_[at_ + 1] == '%' || text_[at_ + 1] == ',');
  }

  static void add(Code& code, std::optional<uint32_t>& sum, uint32_t more) {
    sum = sum ? code.add({.op = Op::kAdd, .a = *sum, .b = more}) : more;
  }

  void add_registers(const Sum& displacement, Code& code, std::optional<uint32_t>& address) {
    ++at_;  // (
    const machine::RegisterSet& registers = machine::host().registers;
    if (accept('%')) {
      const std::string_view name = word();
      const auto base = machine::find_register(registers, name);
      if (base && base->size >= 4) {
        add(code, address, part(*base, code));
      } else if (name != registers.instruction_pointer || !displacement.has_symbol || peek(',')) {
        fail();  // a number above the instruction pointer means nothing outside of an instruction
      }
    }
    if (accept(',')) add_index(code, address);
    expect(')');
  }

  void add_index(Code& code, std::optional<uint32_t>& address) {
    expect('%');
    const auto index = machine::find_register(machine::host().registers, word());
    if (!index || index->size < 4) return fail();
    uint64_t scale = 1;
    if (accept(',')) scale = number();
    if (scale != 1 && scale != 2 && scale != 4 && scale != 8) return fail();
    const uint32_t factor = code.constant(scale);
    const uint32_t value = part(*index, code);
    add(code, address, code.add({.op = Op::kMul, .a = value, .b = factor}));
  }

  Sum sum() {
    if (++depth_ > kDeepestSum) return fail(), Sum();
    Sum result;
    bool is_negative = accept('-');
    if (!is_negative) accept('+');
    while (!failed_) {
      const Sum next = term();
      result.value += is_negative ? -next.value : next.value;
      if (next.has_symbol && (is_negative || result.has_symbol)) fail();
      result.has_symbol |= next.has_symbol;
      result.is_thread_local |= next.is_thread_local;
      if (accept('-')) {
        is_negative = true;
      } else if (accept('+')) {
        is_negative = false;
      } else {
        break;
      }
    }
    --depth_;
    return result;
  }

  Sum term() {
    if (accept('-')) return {.value = -number()};  // +-8
    if (accept('(')) {
      const Sum inner = sum();
      expect(')');
      return inner;
    }
    if (at_ < text_.size() && is_digit(text_[at_])) return {.value = number()};
    return symbol();
  }

  uint64_t number() {
    const std::string_view digits = word();
    const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    const bool is_octal = !is_hex && digits.size() > 1 && digits.starts_with('0');
    const std::string_view rest = digits.substr(is_hex ? 2 : 0);
    uint64_t value = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), value,
                                               is_hex     ? 16
                                               : is_octal ? 8
                                                          : 10);
    if (rest.empty() || failed != std::errc() || end != rest.data() + rest.size()) fail();
    return value;
  }

  Sum symbol() {
    const std::string_view name = word();
    if (name.empty()) return fail(), Sum();
    const std::string_view relocation = accept('@') ? word() : std::string_view();
    const bool is_thread_local = relocation == "tpoff" || relocation == "TPOFF" || relocation == "ntpoff";
    if (!relocation.empty() && !is_thread_local) return fail(), Sum();
    const auto& known = is_thread_local ? symbols_.thread_offset : symbols_.address;
    const auto value = known ? known(name) : std::nullopt;
    if (!value) return fail(Unknown::kSymbol), Sum();
    return {.value = *value, .has_symbol = true, .is_thread_local = is_thread_local};
  }

  std::string_view text_;
  const Size& size_;
  const MarkSymbols& symbols_;
  size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  Unknown why_ = Unknown::kOperand;
  uint32_t width_ = 8;
};

// Null: there are no such numbers.
const Type* type_of(const Size& size, uint32_t width) {
  const uint32_t bytes = size.bytes == 0 ? width : size.bytes;
  if (size.is_float)
    return bytes == 4 ? builtin_type("float") : bytes == 8 ? builtin_type("double") : nullptr;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return nullptr;
  return &int_type(bytes, size.is_signed);
}

Variable argument(std::string_view text, size_t number, const MarkSymbols& symbols) {
  const Size size = parse_size(text);
  OperandParser parser(text.substr(size.length), size, symbols);
  Variable variable{.name = fmt::format("arg{}", number), .place = parser.run(), .is_parameter = true};
  variable.type = type_of(size, parser.width());
  if (!variable.type) {
    variable.type = &int_type(8, false);
    variable.place = unknown_place(Unknown::kOperand);
  }
  return variable;
}

}  // namespace

std::vector<std::string> mark_operand_texts(std::string_view operands) {
  std::vector<std::string> all;
  while (true) {
    const size_t begin = operands.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return all;
    operands.remove_prefix(begin);
    const size_t end = std::min(operands.find_first_of(" \t"), operands.size());
    const std::string_view text = operands.substr(0, end);
    if (!all.empty() && goes_on(all.back())) {
      all.back() += fmt::format(" {}", text);
    } else {
      all.emplace_back(text);
    }
    operands.remove_prefix(end);
  }
}

std::vector<Variable> mark_arguments(std::string_view operands, const MarkSymbols& symbols) {
  std::vector<Variable> all;
  for (const std::string& text : mark_operand_texts(operands))
    all.push_back(argument(text, all.size() + 1, symbols));
  return all;
}

}  // namespace blip::script
