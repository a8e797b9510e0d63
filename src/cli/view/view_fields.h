// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/show/backtrace_text.h"
#include "cli/show/event_json.h"
#include "cli/view/babeltrace.h"

namespace blip::cli {

// Fields that libbabeltrace2 has read, as `blip trace` shows them (value_writer.h): what could not be read
// and what was cut is marked, lengths of sequences are left out.
class ViewFields {
 public:
  // `hex`: integers of the program in base 16, in text.
  ViewFields(bool json, bool hex)
      : hex_(hex && !json), text_(false), values_(json ? json_.values() : text_) {}

  // Takes what the payload of an event says of faults and cuts, for the calls that follow until the next one.
  void begin(const bt_event* event);

  // That of the scopes appended since; none: there was none.
  const std::optional<Backtrace>& backtrace() const { return backtrace_; }

  // "{ a = 1, b = 2 }". Of the context of a packet only what is not about the packet itself; false: nothing
  // is left of it.
  void append_scope(std::string& out, const bt_field* structure);
  bool append_packet_context(std::string& out, const bt_field* structure);

  // The line of JSON of an event. None may have a scope that it does not have.
  struct Scopes {
    const bt_field *packet_context, *common_context, *specific_context, *payload;
  };
  struct Named {
    std::optional<int64_t> time_ns;  // none: its stream has no clock
    std::string_view name;
    std::string place;  // of a class that many places share; empty: of another, or not known
  };
  void append_json(std::string& out, const bt_event* event, const Scopes& scopes, const Named& named,
                   const session::FrameNamer* name_of);

 private:
  using Paths = std::set<std::string, std::less<>>;
  // Says where each member that is shown in JSON is, scope after scope.
  struct Shown {
    uint64_t index = 0;
    bool is_of_head = false;
    ctf::GroupedName key{};
  };
  using ScopeKeys = std::array<std::vector<Shown>, 4>;

  const ScopeKeys& keys_of(const bt_event_class* event_class, const Scopes& scopes);
  void json_scope(const bt_field* structure, const std::vector<Shown>& keys, EventJson::Head& head);
  void begin(const bt_field* payload);
  bool take_backtrace(const bt_field* structure, uint64_t index);
  // `path`: as marks name it.
  void append_marked(const bt_field* field, const std::string& path);
  void append(const bt_field* field, const std::string& path);
  void append_collected(const bt_field* field);
  void append_structure(const bt_field* field, const std::string& path);
  void append_array(const bt_field* field);
  void append_number(const bt_field* field);
  void append_enumeration(const bt_field* field, uint64_t bits, bool is_signed);
  static Paths set_bits(const bt_field* field);
  bool has_marks() const { return !faults_.empty() || !cut_.empty(); }

  bool hex_;
  bool is_hex_ = false;                 // of the integers at hand
  const bt_field* captured_ = nullptr;  // the payload whose integers are the program's
  ValueWriter text_;
  EventJson json_;
  ValueWriter& values_;
  std::unordered_map<const bt_event_class*, ScopeKeys> keys_;
  Paths faults_, cut_;
  std::optional<Backtrace> backtrace_;
  int32_t vpid_ = 0;
};

}  // namespace blip::cli
