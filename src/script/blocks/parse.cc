// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "script/blocks/parse_function.h"
#include "script/blocks/text.h"
#include "script/blocks/words.h"

namespace blip::script {

namespace {

class ProgramParser {
 public:
  Result<Program> run(std::string_view text) {
    for (size_t number = 1; !text.empty(); ++number) {
      const size_t end = std::min(text.find('\n'), text.size());
      Line line(text.substr(0, end));
      if (line.is_next("function")) TRY_OK(finish_function());
      read(line);
      if (!line.is_at_end()) line.fail("unexpected: " + line.word());
      if (!line.error().empty()) return wrong(number, line.error());
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    TRY_OK(finish_function());
    return std::move(program_);
  }

 private:
  static Error wrong(size_t line, const std::string& what) {
    return Error(ErrorKind::kInvalid, fmt::format("line {}: {}", line, what));
  }

  void read(Line& line) {
    if (line.is_at_end()) return;
    if (line.skip("function")) return function(line);
    if (!parser_) return declaration(line);
    parser_->read(line);
  }

  void declaration(Line& line) {
    if (line.skip("texts")) {
      program_.text_limit = line.small_number();
    } else if (line.skip("map")) {
      expect_number(line, program_.maps.size());
      program_.maps.push_back(map(line));
    } else if (line.skip("format")) {
      expect_number(line, program_.formats.size());
      Format format{.text = line.quoted()};
      format.arguments = line.types();
      program_.formats.push_back(std::move(format));
    } else {
      line.fail("not in a function: " + line.word());
    }
  }

  static void expect_number(Line& line, size_t wanted) {
    if (line.number() != wanted) line.fail(fmt::format("its number is not {}, which is the next", wanted));
  }

  static state::MapType map(Line& line) {
    state::MapType map{.name = line.quoted()};
    map.key = line.types();
    map.value = line.one_of<ValueType>(words::kTypes, "type");
    map.is_unsigned = line.skip("unsigned");
    map.has_variance = line.skip("variance");
    if (map.has_variance) map.variance_shift = static_cast<uint8_t>(line.small_number(62));
    if (!line.is_next("limit")) map.histogram = histogram(line);
    line.expect("limit");
    map.limit = line.small_number();
    map.when_full = line.one_of<state::WhenFull>(words::kWhenFull, "rule for a full map");
    map.kind = line.one_of<state::MapKind>(words::kMapKinds, "kind of map");
    return map;
  }

  static state::Histogram histogram(Line& line) {
    using Kind = state::Histogram::Kind;
    state::Histogram h{.kind = line.one_of<Kind>(words::kHistograms, "histogram")};
    if (h.kind == Kind::kHist) h.bits = line.small_number();
    if (h.kind != Kind::kLhist && h.kind != Kind::kHistLinear) return h;
    h.low = static_cast<int64_t>(line.number());
    h.high = static_cast<int64_t>(line.number());
    h.step = static_cast<int64_t>(line.number());
    return h;
  }

  void function(Line& line) {
    function_.name = line.word();
    if (line.skip("probe")) function_.probe = line.small_number();
    if (line.skip("parameters")) function_.parameters = line.small_number();
    if (line.skip("returns")) function_.result = line.one_of<ValueType>(words::kTypes, "type");
    line.expect("at");
    function_.place = line.one_of<Function::Place>(words::kPlaces, "place");
    parser_.emplace(program_, function_);
  }

  Status finish_function() {
    if (!parser_) return {};
    TRY_OK(parser_->finish().with_context("function " + function_.name));
    program_.functions.push_back(std::move(function_));
    function_ = {};
    parser_.reset();
    return {};
  }

  Program program_;
  Function function_;
  std::optional<FunctionParser> parser_;
};

}  // namespace

Result<Program> parse_program(std::string_view text) { return ProgramParser().run(text); }

}  // namespace blip::script
