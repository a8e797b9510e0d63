#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tests of what needs processes, and cases end to end, under asan and ubsan.  usage: scripts/asan.sh BUILD_CLANG TARGETS TEST...
set -euo pipefail
clang=$1 targets=$2
shift 2
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

# These cannot hold in a process of clang's with asan in it, which these tests take for their target.
left_out=(
  Exits.of_nearly_all_functions_are_known                  # 98.9 % of the functions of clang's and asan's, 99.5 % is the bound for g++'s
  Resolve.ifuncs_of_libc_are_what_a_pointer_to_them_holds  # asan has its own strlen and memset
  # __sanitizer::internal_clone() is in the text of the program, and blip follows every clone: one place more is patched.
  LateLibraries.a_library_that_went_unnoticed_is_left_alone_at_the_end
  Tactics.what_shares_bytes_with_a_refused_site_is_refused
  Tactics.a_pun_that_would_lead_astray_is_refused
  ParkedCode.saved_registers_are_found_in_private_and_shared_memory  # holds alone; after others there is more than the 128 MiB that are searched
  'WholeModule.*' 'All/ExitsOfTarget.*'                    # minutes: all of libc, single steps
)
filter=$(IFS=:; echo "${left_out[*]}")
for test in "$@"; do
  echo "--- $test"
  timeout -v 900 "$clang/$test" --gtest_brief=1 --gtest_filter="-$filter"
done

# blip with sanitizers at ordinary targets: all cases, less those that cannot hold or take too long.
without=(
  secure kill_sweep moments trap waits  # run blip under strace: the search for leaks cannot begin beside another tracer
  friendly                         # looks at what the other build installs: manual, completion, package
  every_program programs return_programs  # every function or instruction of real programs: minutes for each, and cases have 30 s
  load room harsh                  # bound memory, processor time or the size of files, of which a sanitized blip needs a multiple
  cycles many                      # thousands of probes and sessions: minutes
)
# Looks for inlined functions of blip, of which clang's -g1 tells nothing.
case_left_out='an index of names is made once and kept'
for file in tests/run/*.t; do
  name=$(basename "$file" .t)
  case " ${without[*]} " in *" $name "*) continue ;; esac
  timeout -v 600 tests/run.py --blip "$clang/blip" --targets "$targets" --without "$case_left_out" "$file"
done
