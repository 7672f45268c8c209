#compdef parallax parallaxd
# SPDX-License-Identifier: Apache-2.0
# Zsh completion of parallax and parallaxd. All names come from --help, which argp writes from the tables of the programs.
local program=$words[1] word=$words[CURRENT]
local -a command names
[[ ${program:t} == parallax && $CURRENT -gt 2 ]] && command=($words[2])
if [[ $word == -* ]]; then
    names=(${(f)"$($program $command --help 2>/dev/null | sed -n 's/^  \(-h, \|    \)\(--[a-z-]*=\?\).*/\2/p')"})
    compadd -S '' -- $names
elif [[ ${program:t} == parallax && $CURRENT -eq 2 ]]; then
    names=(${(f)"$($program --help 2>/dev/null | sed -n 's/^  \([a-z]\+\)  .*/\1/p')"})
    compadd -- $names
else
    _files
fi
