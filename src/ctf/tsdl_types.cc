// SPDX-License-Identifier: MIT
#include "ctf/tsdl_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ctf/captured.h"
#include "ctf/long_double.h"
#include "ctf/metadata.h"

namespace blip::ctf {

namespace {

constexpr const char* kText = "text_t";
constexpr const char* kElements = "_elements";

// The value of a label as a number of `field`, which is cut to its size.
std::string label_value(const Field& field, int64_t value) {
  const unsigned unused = 64 - 8 * number_size(field);
  const uint64_t high = static_cast<uint64_t>(value) << unused;
  return field.is_signed ? std::to_string(static_cast<int64_t>(high) >> unused)
                         : std::to_string(high >> unused);
}

// `"LABEL" = VALUE, ...`: the first label of a value counts, and equal ones get a number.
class Mappings {
 public:
  void add(const std::string& label, const std::string& value) {
    if (!values_.insert(value).second) return;
    std::string text = tsdl_string(label);
    for (int n = 2; !labels_.insert(text).second; ++n) text = tsdl_string(fmt::format("{}_{}", label, n));
    text_ += fmt::format("{}{} = {}", text_.empty() ? "" : ", ", text, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::set<std::string> values_, labels_;
  std::string text_;
};

// babeltrace2 2.0 takes _x for a second __x, of which it has taken the first underscore off.
class NameSet {
 public:
  bool has(const std::string& name) const { return used_.contains(name) || used_.contains(name.substr(1)); }
  void add(const std::string& name) { used_.insert({name, name.substr(1)}); }

 private:
  std::set<std::string> used_;
};

void find_paths(std::span<const Field> fields, const std::string& outer, std::vector<std::string>& paths) {
  const std::vector<std::string> names = scope_names(fields);
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string path = outer + names[i].substr(1);
    if (fields[i].output < paths.size() && paths[fields[i].output].empty()) paths[fields[i].output] = path;
    if (fields[i].type == FieldType::kStruct) find_paths(fields[i].members, path + ".", paths);
  }
}

}  // namespace

std::string length_name(const std::string& name) { return "_" + name + "_length"; }

std::vector<std::string> scope_names(std::span<const Field> fields) {
  std::vector<std::string> names;
  NameSet used;
  for (const Field& field : fields) {
    const std::string plain = tsdl_identifier(field.name.empty() ? "unnamed" : field.name);
    std::string name = plain;
    const bool counted = field.type == FieldType::kSequence;
    for (int n = 2; used.has(name) || (counted && used.has(length_name(name))); ++n)
      name = fmt::format("{}_{}", plain, n);
    used.add(name);
    if (counted) used.add(length_name(name));
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> output_paths(const EventClass& event_class) {
  std::vector<std::string> paths(event_class.outputs.size());
  for (const bool contexts : {false, true}) {
    std::vector<Field> scope;
    for (const Field& field : event_class.fields)
      if (field.is_context == contexts) scope.push_back(field);
    find_paths(scope, "", paths);
  }
  return paths;
}

std::string FieldDeclarer::declare(const Field& field, const std::string& name,
                                   const std::vector<std::string>& paths) {
  switch (field.type) {
    case FieldType::kInt32:
      return "int32_t " + name + ";";
    case FieldType::kUint32:
    case FieldType::kStackId:
      return "uint32_t " + name + ";";
    case FieldType::kUint16:
      return "uint16_t " + name + ";";
    case FieldType::kUint8:
      return "uint8_t " + name + ";";
    case FieldType::kUint64:
      return "uint64_t " + name + ";";
    case FieldType::kHex64:
    case FieldType::kStackInfo:
      return "hex64_t " + name + ";";
    case FieldType::kText16:
      return "utf8_t " + name + "[16];";
    case FieldType::kText256:
      return "utf8_t " + name + "[256];";
    case FieldType::kFaults:
    case FieldType::kCut:
      return bits(paths) + " " + name + ";";
    default:
      return typed(field, name, "");
  }
}

std::string FieldDeclarer::typed(const Field& field, const std::string& name, const std::string& dimensions) {
  switch (field.type) {
    case FieldType::kArray:
      return typed(field.members.front(), name, fmt::format("{}[{}]", dimensions, field.count));
    case FieldType::kSequence:
      return fmt::format("uint16_t {}; {}", length_name(name),
                         typed(field.members.front(), name, fmt::format("[{}]", length_name(name))));
    case FieldType::kCollected:
      return fmt::format("struct {{ {} _state; uint64_t _size; uint16_t {}; {} }} {}{};", state_type(),
                         length_name(kElements),
                         typed(field.members.front(), kElements, fmt::format("[{}]", length_name(kElements))),
                         name, dimensions);
    case FieldType::kCollectedText:
      return fmt::format("struct {{ {} _state; {} _text; }} {}{};", state_type(),
                         alias("string { encoding = UTF8; }", kText), name, dimensions);
    case FieldType::kStruct:
      return fmt::format("struct {{ {}}} {}{};", members_of(field), name, dimensions);
    case FieldType::kFloat:
      if (!is_long_double(field)) break;
      return fmt::format("struct {{ {} _{}; {} _{}; }} {}{};",
                         type_of({.type = FieldType::kFloat, .size = sizeof(double)}), kNearestDouble,
                         type_of({.type = FieldType::kText}), kAllDigits, name, dimensions);
    default:
      break;
  }
  return fmt::format("{} {}{};", type_of(field), name, dimensions);
}

std::string FieldDeclarer::members_of(const Field& field) {
  const std::vector<std::string> names = scope_names(field.members);
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) out += typed(field.members[i], names[i], "") + " ";
  return out;
}

std::string FieldDeclarer::type_of(const Field& field) {
  switch (field.type) {
    case FieldType::kText:
    case FieldType::kNote:
      return alias("string { encoding = UTF8; }", kText);
    case FieldType::kFloat:
      return number_size(field) == sizeof(float)
                 ? alias("floating_point { exp_dig = 8; mant_dig = 24; align = 8; }", "float32_t")
                 : alias("floating_point { exp_dig = 11; mant_dig = 53; align = 8; }", "float64_t");
    case FieldType::kBool: {
      const std::string number = integer(field.size, false, false);
      return alias(fmt::format("enum : {} {{ \"false\" = 0, \"true\" = 1 }}", number),
                   fmt::format("bool{}_t", 8 * field.size));
    }
    case FieldType::kChar:
      return characters(field.is_signed);
    case FieldType::kEnum:
      return enumeration(field);
    default:
      return integer(field.size, field.is_signed, field.is_hex);
  }
}

std::string FieldDeclarer::integer(uint32_t size, bool is_signed, bool is_hex) {
  static const std::set<std::string> known = {"uint8_t", "uint16_t", "uint32_t",
                                              "int32_t", "uint64_t", "hex64_t"};
  std::string name = fmt::format("{}{}{}_t", is_hex ? "hex" : "",
                                 is_signed ? "int"
                                 : is_hex  ? ""
                                           : "uint",
                                 8 * size);
  if (known.contains(name)) return name;
  return alias(fmt::format("integer {{ size = {}; align = 8; signed = {};{} }}", 8 * size, is_signed,
                           is_hex ? " base = 16;" : ""),
               name);
}

std::string FieldDeclarer::enumeration(const Field& field) {
  std::string number = integer(field.size, field.is_signed, false);
  if (field.labels.empty()) return number;
  Mappings mappings;
  for (const Label& label : field.labels)
    mappings.add(label.name.empty() ? "(unnamed)" : label.name, label_value(field, label.value));
  return numbered_alias(fmt::format("enum : {} {{ {} }}", number, mappings.text()));
}

// A number to programs, a letter to people. All have a label, for babeltrace 1.5 warns where there is none.
std::string FieldDeclarer::characters(bool is_signed) {
  Mappings mappings;
  for (int c = 0; c < 256; ++c) {
    const bool plain = c >= ' ' && c <= '~';
    const int value = is_signed ? static_cast<int8_t>(c) : c;
    mappings.add(plain ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c),
                 std::to_string(value));
  }
  return alias(fmt::format("enum : {} {{ {} }}", integer(1, is_signed, false), mappings.text()),
               is_signed ? "char_t" : "uchar_t");
}

// Each output's bit has the name of its field, so that readers can tell which one it is.
std::string FieldDeclarer::bits(const std::vector<std::string>& paths) {
  Mappings mappings;
  mappings.add("(none)", "0");
  for (size_t i = 0; i < paths.size(); ++i)
    if (!paths[i].empty()) mappings.add(paths[i], std::to_string(uint64_t{1} << i));
  return fmt::format("enum : hex64_t {{ {} }}", mappings.text());
}

// By collect::State.
std::string FieldDeclarer::state_type() {
  return alias(
      "enum : uint8_t { \"whole\" = 0, \"cut\" = 1, \"NULL\" = 2, \"bad address\" = 3, \"empty text\" = 4 }",
      "state_t");
}

std::string FieldDeclarer::alias(const std::string& definition, const std::string& name) {
  const auto [entry, is_new] = names_.try_emplace(definition, name);
  if (is_new) definitions_ += fmt::format("typealias {} := {};\n", definition, name);
  return entry->second;
}

std::string FieldDeclarer::numbered_alias(const std::string& definition) {
  return alias(definition, fmt::format("enum{}_t", names_.size()));
}

std::string FieldDeclarer::definitions() const { return definitions_.empty() ? "" : "\n" + definitions_; }

}  // namespace blip::ctf
