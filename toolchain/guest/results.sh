# SPDX-License-Identifier: Apache-2.0
# Results of the cases in a test guest, as files; sourced. Reading a result removes it, so that an old result never counts as a new one.

forget_results() { # RESULTS CASE...
    local results=$1 case
    shift
    mkdir -p "$results"
    for case; do rm -f "$results/$case".{log,code}; done
}

write_result() { # RESULTS CASE CODE; standard input: the output of the case
    cat >"$1/$2.log"
    echo "$3" >"$1/$2.code"
}

# From the guest's console, where each case stands between "guest: case NAME" and "guest: result NAME CODE".
split_results() { # RESULTS CONSOLE
    local said='' word name='' code line
    while IFS= read -r line; do
        line=${line%$'\r'}
        case $line in
        'guest: case '*) name=${line#guest: case } said='' ;;
        'guest: result '*)
            read -r _ word name code <<<"$line"
            # Passing needs a word of cmocka's: a program that does nothing returns 0 too.
            if [[ $code == 0 && ! $said =~ \[\ \ PASSED\ \ \]\ [1-9] ]]; then
                said+='guest: it returned 0, and no test passed'$'\n' code=1
            fi
            printf '%s' "$said" | write_result "$1" "$name" "$code"
            name=
            ;;
        *) said+=$line$'\n' ;;
        esac
    done <"$2"
    [[ ! $name ]] || { printf '%s' "$said"; echo "guest: it ended within $name"; } >"$1/$name.log"
}

# Prints the output of CASE, and returns its exit code.
take_result() { # RESULTS CASE
    local code=1
    cat "$1/$2.log" 2>/dev/null || true
    if [[ -f $1/$2.code ]]; then code=$(<"$1/$2.code"); else echo "guest: no result of $2"; fi
    rm -f "$1/$2".{log,code}
    return "$code"
}
