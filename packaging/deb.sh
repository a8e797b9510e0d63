#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes blip_VERSION_ARCH.deb from what is built; DEBFULLNAME and DEBEMAIL name its maintainer.
# usage: packaging/deb.sh BUILD_DIR [WHERE]   prints the file's name
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
date=$(sed -n 's/^BLIP_RELEASE_DATE:INTERNAL=//p' "$build/CMakeCache.txt")
arch=$(dpkg --print-architecture)
fill() {
  sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$arch/" -e "s/@NAME@/${DEBFULLNAME:-the blip authors}/" \
      -e "s/@EMAIL@/${DEBEMAIL:-blip@blip.invalid}/" -e "s/@DATE@/$(LC_ALL=C date -u -R -d "$date")/" "$@"
}
export SOURCE_DATE_EPOCH="$(date -u -d "$date" +%s)"  # no file is younger: the same package each time
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
umask 022

root=$work/debian/blip
DESTDIR=$root cmake --install "$build" --prefix /usr --component Unspecified --strip >/dev/null

# Debian's zsh looks for packages' completions here.
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_blip" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"

gzip -9n "$root/usr/share/man/man1/blip.1"
doc=$root/usr/share/doc/blip
mkdir -p "$doc"
cp "$here/copyright" "$doc/copyright"
fill "$here/changelog.in" | gzip -9n >"$doc/changelog.gz"

# dpkg-shlibdeps wants a source package's control file beside it.
printf 'Source: blip\n\nPackage: blip\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O debian/blip/usr/bin/blip 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "deb: dpkg-shlibdeps found no libraries" >&2; exit 1; }

# The packages whose static libraries are part of the program.
built_using=$(dpkg-query -W -f '${source:Package} (= ${source:Version}), ' libasmjit-dev libiberty-dev | sed 's/, $//')

mkdir -p "$root/DEBIAN"
fill -e "s/@BUILT_USING@/$built_using/" -e "s/@DEPENDS@/$depends/" -e "s/@SIZE@/$(du -sk "$root/usr" | cut -f1)/" "$here/control.in" >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -exec md5sum {} + | sort -k 2 >DEBIAN/md5sums)

deb=${2:-$build}/blip_${version}_$arch.deb
dpkg-deb --root-owner-group --build "$root" "$deb" >/dev/null
echo "$deb"
