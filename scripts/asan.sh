#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tests of what needs processes, under asan and ubsan.  usage: scripts/asan.sh BUILD_CLANG TEST...
set -euo pipefail
clang=$1
shift
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

# What cannot hold in a process of clang's with asan in it, which these tests take for their target.
left_out=(
  Exits.of_nearly_all_functions_are_known                    # the share is that of code by g++, without asan's checks
  Instrumentation.bytes_of_another_tool_are_not_overwritten  # looks behind an endbr64, which clang does not make
  LateLibraries.a_library_that_went_unnoticed_is_left_alone_at_the_end  # asan's memory takes the library's place
  ParkedCode.saved_registers_are_found_in_private_and_shared_memory     # there are terabytes to look through
  Resolve.ifuncs_of_libc_are_what_a_pointer_to_them_holds    # asan has its own strlen and memset
  Tactics.what_shares_bytes_with_a_refused_site_is_refused   # asan's runtime calls clone, in the same text: patched too
  Tactics.a_pun_that_would_lead_astray_is_refused            # the same
  'WholeModule.*'                                            # minutes
  'All/ExitsOfTarget.*'                                      # their targets are in the other build directory
)
filter=$(IFS=:; echo "${left_out[*]}")
for test in "$@"; do
  echo "--- $test"
  timeout -v 900 "$clang/$test" --gtest_brief=1 --gtest_filter="-$filter"
done
