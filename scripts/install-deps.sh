#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages blip is built, tested and measured with. Does nothing when all are there.
# usage: scripts/install-deps.sh [build|test|bench|soak|suites|deb|aarch64]...   (default: build)
set -eu

build="g++ cmake ninja-build pkg-config libzydis-dev libzycore-dev libasmjit-dev libdw-dev libelf-dev libfmt-dev
       libexpected-dev libbabeltrace2-dev liblzma-dev libiberty-dev"
test="libgtest-dev libgmock-dev python3 babeltrace2 babeltrace spin gdb dwz debuginfod strace sqlite3 perl gzip gcc-12-multilib
      clang-14 libc++-14-dev libc++abi-14-dev clang-format-14 clang-tidy-14 libclang-rt-14-dev util-linux bpftrace musl-tools
      golang-go rustc busybox-static bubblewrap"
bench="python3 libbenchmark-dev lttng-tools liblttng-ust-dev bpftrace linux-perf uftrace gdb gdbserver postgresql-15 redis-tools
       mariadb-server-core sysbench nodejs"
soak="python3 postgresql-15 redis-tools nginx wrk"
suites="python3 libpython3.11-testsuite python3.11-dbg libc6-dbg tcl8.6-dev dpkg-dev nodejs openjdk-17-jdk-headless golang-go rustc"
# scripts/aarch64.py: the compiler, the emulator, and googletest as sources.
aarch64="g++-12-aarch64-linux-gnu qemu-user googletest python3"
# The package; and the manual, completion and package as the tests see them.
deb="dpkg-dev"
test="$test dpkg-dev man-db mandoc zsh fish bash-completion lintian"
# Symbols.
test="$test xz-utils rustc"
# Others at the same process.
test="$test linux-perf"
# Every instruction of real programs, counted against callgrind.
test="$test openssl valgrind binutils"

packages=""
for group in "${@:-build}"; do
  case $group in
    build) packages="$packages $build" ;;
    test) packages="$packages $test" ;;
    bench) packages="$packages $bench" ;;
    soak) packages="$packages $soak" ;;
    suites) packages="$packages $suites" ;;
    deb) packages="$packages $deb" ;;
    aarch64) packages="$packages $aarch64" ;;
    *) echo "install-deps: unknown group '$group' (build, test, bench, soak, suites, deb, aarch64)" >&2; exit 2 ;;
  esac
done

missing=""
for p in $packages; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

sudo=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "install-deps: these packages are missing, install them as root:$missing" >&2; exit 1; }
  sudo=sudo
fi
echo "install-deps: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1  # servers are not started because they are installed
$sudo apt-get update -qq
# shellcheck disable=SC2086
$sudo apt-get install -o DPkg::Lock::Timeout=600 -y -qq --no-install-recommends $missing >/dev/null
