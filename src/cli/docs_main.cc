// SPDX-License-Identifier: MIT
// Used by the build only: writes what is made from the tables of the command line to stdout.
//   blip_docs man DATE | bash | zsh | fish
#include <cstdio>
#include <string>
#include <string_view>

#include "cli/help/completion.h"
#include "cli/help/man.h"

int main(int argc, char** argv) {
  using namespace blip::cli;
  const std::string_view what = argc > 1 ? argv[1] : "";
  std::string text;
  if (what == "man" && argc == 3) text = man_page(argv[2]);
  if (what == "bash") text = bash_completion();
  if (what == "zsh") text = zsh_completion();
  if (what == "fish") text = fish_completion();
  if (text.empty()) {
    std::fputs("usage: blip_docs man DATE | bash | zsh | fish\n", stderr);
    return 2;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0 ? 0 : 1;
}
