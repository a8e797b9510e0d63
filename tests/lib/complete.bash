# SPDX-License-Identifier: MIT
# Prints what bash does when TAB is pressed at the end of each LINE: complete.bash SCRIPT LINE...
source "$1"
shift
compopt() { :; }  # bash's own works only inside a completion
for line; do
  COMP_LINE=$line COMP_POINT=${#line}
  # Words as readline sees them: = and : stand alone.
  read -r -a COMP_WORDS <<<"$(sed -E 's/([=:])/ \1 /g' <<<"$line")"
  [[ $line == *' ' ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _blip
  if [[ ${COMP_TYPE:-9} == 63 ]]; then printf '%s\n' "${COMPREPLY[@]}"; else echo "${COMPREPLY[*]}"; fi
done
