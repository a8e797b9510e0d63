#!/bin/sh
# SPDX-License-Identifier: MIT
# Completes command lines as a shell would, one line of answers each: complete.sh bash|zsh|fish SHARE_DIR LINE...
set -eu

lib=$(cd "$(dirname "$0")" && pwd)
shell=$1 share=$2
shift 2
case $shell in
  bash) exec bash "$lib/complete.bash" "$share/bash-completion/completions/blip" "$@" ;;
  fish) exec fish "$lib/complete.fish" "$share/fish/vendor_completions.d/blip.fish" "$@" ;;
  zsh) exec zsh -f "$lib/complete.zsh" "$share/zsh/site-functions" "$@" ;;
esac
