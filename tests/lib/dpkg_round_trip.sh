#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs a package below a directory of its own, runs its program, removes it: dpkg_round_trip.sh FILE.deb
# The machine's own packages are not touched.
set -eu

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
: >"$root/var/lib/dpkg/status"
quietly() { "$@" >"$root/log" 2>&1 || { cat "$root/log" >&2; exit 1; }; }
# Its libraries are outside.
quietly dpkg --root="$root" --force-depends --force-script-chrootless -i "$1"
"$root/usr/bin/blip" --version
quietly dpkg --root="$root" --force-script-chrootless --purge blip
if find "$root" -name '*blip*' | grep .; then exit 1; fi
echo gone
