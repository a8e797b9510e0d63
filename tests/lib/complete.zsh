# SPDX-License-Identifier: MIT
# Prints what zsh offers at the end of each LINE: complete.zsh FOLDER LINE...
# A second zsh on a pseudo terminal does the completing; its compadd writes down what it is given. The words waited for
# are spelled so that the terminal's echo of the command is not taken for its output.
zmodload zsh/zpty
folder=$1
shift
for line; do
  zpty z zsh -f -i
  zpty -w z "PROMPT=; stty -echo; fpath=($folder \$fpath); autoload -Uz compinit; compinit -u -D"
  zpty -w z 'compadd() { local -a given; builtin compadd -A given "$@"; builtin compadd "$@"; print -l -- $given >> '"$PWD/given"'; }'
  zpty -w z 'finish() { print -- FINI""SHED; }; zle -N finish; bindkey "^X" finish; bindkey "^I" complete-word; print REA""DY'
  zpty -r z out '*READY*'
  : > given
  zpty -w -n z "$line"$'\t'$'\x18'
  zpty -r z out '*FINISHED*'
  zpty -d z
  print -- ${(ou)$(<given)}
done
