#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts/tidy.sh BUILD JOBS [FOLDER...]: clang-tidy over the sources of some folders (default: all of src), with the checks of .clang-tidy and the
# compile commands of BUILD. Not over tests: their matchers take a minute each. Not over the runtime: it is compiled by commands of its own.
set -eu
build=$1 jobs=$2
shift 2
git ls-files "${@:-src}" | grep -E '\.cc$' | grep -vE '(_test|_fuzz)\.cc$|^src/runtime/' |
  xargs -P "$jobs" -n 1 timeout -v 300 clang-tidy-14 -p "$build" --quiet
