#!/bin/sh
# SPDX-License-Identifier: MIT
# build_sqlite.sh DIR: SQLite's testfixture from Debian's source package, with -g, in DIR; once. The lists of sources are DIR's own:
# the machine's package sources are not changed.
set -eu
dir=$1
[ -x "$dir/testfixture" ] && exit 0
mkdir -p "$dir.work/lists/partial"
cd "$dir.work"
sed 's/^Types: .*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >debian.sources
apt="apt-get -qq -o Dir::Etc::sourcelist=$PWD/debian.sources -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists"
$apt update
$apt source --download-only sqlite3
rm -rf "$dir"
dpkg-source --no-check -x sqlite3_*.dsc "$dir" >/dev/null
cd "$dir"
./configure --with-tcl=/usr/lib/tcl8.6 CFLAGS="-O2 -g" >/dev/null
make -j"$(nproc)" testfixture >/dev/null 2>make.log || { tail make.log; exit 1; }
chmod -R a+rX .
