# Sourced: whether the loop that is found with all calls but MPI's hidden is the steps of a program.
#
#   same_steps TRACE STEPS RANKS FUNCTION
#
# SNAG is set, the current directory is one to write to. FUNCTION is what the program calls once in
# every step: in the same trace, with its functions, it says which iteration is which step. Sets
# failed to 1, saying why.

# executions RUN: "rank index begin end" of each, in order.
executions() {
    "$SNAG" list "$1" --all --json |
        jq -r 'select(.enter_ns) | [.rank, .index, .enter_ns, .enter_ns + .duration_ns] | @tsv' | sort -n -k1 -k2
}

# analyze TRACE RUN OPTION...: a damaged trace is one, too.
analyze() {
    "$SNAG" analyze "$1" -o "$2" --force --quiet "${@:3}" || [ $? = 3 ]
}

expect() {
    if [ "$2" != "$3" ]; then
        echo "$1: $2, but should be $3"
        failed=1
    fi
}

same_steps() {
    local trace=$1 steps=$2 ranks=$3 function=$4
    SNAG_MPI_ONLY=1 analyze "$trace" loop.snag >said
    analyze "$trace" function.snag --foi "$function" >/dev/null
    expect "loops that are taken" "$(grep -c "taking the best suggestion, 'loop@" said)" 1
    executions loop.snag >loop
    executions function.snag >function
    expect "ranks" "$(cut -f1 loop | sort -u | wc -l)" "$ranks"
    expect "iterations" "$(cut -f2 loop | sort -u | wc -l)" "$steps"
    expect "iterations that some rank has not" \
        "$(cut -f2 loop | sort -n | uniq -c | awk -v n="$ranks" '$1 != n' | wc -l)" 0
    expect "iterations that do not begin between the ends of the step before and of their own" "$(paste loop function |
        awk '{ if ($3 < ($2 > 0 ? left : 0) || $3 > $8) n++; left = $8 } END { print n + 0 }')" 0
}
