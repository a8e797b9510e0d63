// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options/option_table.h"
#include "cli/options/options.h"
#include "cli/options/probe_data.h"

namespace blip::cli {

// Builds a command from the words of a command line, one after the other. A context belongs to the probe
// before it, or to all probes if it comes before the first or only behind the last (see spread.h). Values are
// checked one by one; that they fit together is checked at the end.
class CommandBuilder {
 public:
  explicit CommandBuilder(const VerbFact& verb);

  // An option of the verb with its value, which is empty if it takes none.
  Status apply(const OptionFact& fact, const std::string& value);
  Status add_operand(const std::string& word);
  // The words of a command to be started; `shown` is how it was given.
  Status set_command(std::vector<std::string> words, std::string_view shown);
  bool wants_help() const { return command_.help; }
  // `args`: the whole command line, for the trace's sake.
  Result<Command> finish(const std::vector<std::string>& args);

 private:
  struct Rules;  // what each option does (option_rules.cc)

  Status measure_calls();
  Status finish_list();
  Status finish_clean() const;
  Status finish_run(const std::vector<std::string>& args);
  Status finish_tracing(const std::vector<std::string>& args);
  Status check_target() const;
  bool has_target() const;
  std::string help_hint() const;

  const VerbFact& verb_;
  Command command_;
  std::vector<std::string> operands_;
  ProbeData data_;
  std::vector<session::Context> for_all_;
};

bool is_tracing(Verb verb);
// -- CMD ARGS... starts a command.
bool takes_command(Verb verb);

}  // namespace blip::cli
