# SPDX-License-Identifier: Apache-2.0
# Bash completion of parallax and parallaxd. All names come from --help, which argp writes from the tables of the programs.
_parallax()
{
    local word=${COMP_WORDS[COMP_CWORD]} command=() names
    if [[ ${1##*/} == parallax && $COMP_CWORD -gt 1 ]]; then
        command=("${COMP_WORDS[1]}")
    elif [[ ${1##*/} == parallax && $word != -* ]]; then
        names=$("$1" --help | sed -n 's/^  \([a-z]\+\)  .*/\1/p')
    fi
    if [[ $word == -* ]]; then
        names=$("$1" "${command[@]}" --help 2>/dev/null | sed -n 's/^  \(-h, \|    \)\(--[a-z-]*=\?\).*/\2/p')
        compopt -o nospace
    elif [[ -z $names ]]; then
        compopt -o default # files
    fi
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
} && complete -F _parallax parallax parallaxd
