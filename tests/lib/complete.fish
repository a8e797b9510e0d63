# SPDX-License-Identifier: MIT
# Prints what fish offers at the end of each LINE: complete.fish SCRIPT LINE...
source $argv[1]
for line in $argv[2..-1]
    echo (complete -C $line | string replace -r '\t.*' '')
end
