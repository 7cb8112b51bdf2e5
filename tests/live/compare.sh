# Sourced by the tests of executions while a program runs:
#
#   SNAG and EXECUTIONS are set: the program, and tests/live/live_executions.c
#   the current directory is one to write to

failed=0

complain() {
    echo "$*"
    failed=1
}

# needs_anomalies FILE: there are some in first.csv (of same_verdicts) or after.csv (of same_scores).
needs_anomalies() {
    grep -q ',anomaly,' "$1" || complain "no anomalies in $1"
}

# damaged_too COMMAND...: nothing is wrong but the trace.
damaged_too() {
    "$@" || [ $? = 3 ]
}

# same_trees TRACE FUNCTION STEP...: ids, times, calls, messages are those of the finished trace.
same_trees() {
    local trace=$1 function=$2 step
    shift 2
    "$EXECUTIONS" --whole "$trace" "$function" | cut -d, -f1-7 | sort >whole.csv
    [ "$(wc -l <whole.csv)" -gt 1 ] || complain "$function is not there"
    for step in "$@"; do
        "$EXECUTIONS" --step "$step" "$trace" "$function" | cut -d, -f1-7 | sort >steps.csv
        cmp whole.csv steps.csv || complain "$function: other trees in steps of $step s"
    done
}

# same_verdicts TRACE FUNCTION "STEP STEP..." [OPTION...]: to the last bit, wherever steps cut.
same_verdicts() {
    local trace=$1 function=$2 steps=$3 step
    shift 3
    rm -f first.csv
    for step in $steps; do
        "$EXECUTIONS" "$@" --step "$step" "$trace" "$function" | sort >verdicts.csv
        [ -e first.csv ] || cp verdicts.csv first.csv
        cmp first.csv verdicts.csv || complain "$function $*: other verdicts in steps of $step s"
    done
}

# same_records TRACE FUNCTION STEPS: of the strange ones, their calls too, wherever steps cut them.
same_records() {
    local trace=$1 function=$2 steps=$3 step
    rm -f first.csv
    for step in $steps; do
        rm -rf records.store
        "$SNAG" ad "$trace" --foi "$function" --step "$step" --store records.store --quiet >/dev/null
        "$SNAG" query records.store "
            SELECT rid, execution, calls, messages, round(outlier_score, 6) AS score, c.value ->> 'func' AS func,
                   c.value ->> 'entry' AS entry, c.value ->> 'exit' AS exit
            FROM anomalies, json_each(record, '\$.event_window.exec_window') AS c
            WHERE execution IS NOT NULL ORDER BY rid, execution, entry, exit DESC, func" --format csv >records.csv
        [ -e first.csv ] || cp records.csv first.csv
        cmp first.csv records.csv || complain "$function: other records in steps of $step s"
    done
    [ "$(wc -l <first.csv)" -gt 10 ] || complain "$function: no records"
}

# may_be_unknown MILLE REASON: of so many in a thousand executions it may not be known in time how long
# they waited for others, for this reason; of none, where nobody has said.
may_be_unknown() {
    most_unknown=$1 unknown_because=$2
}
may_be_unknown 0 ''

# same_scores MODEL TRACE FUNCTION STEP...: score, verdict and part of every execution are those
# that snag score has of the finished trace, to the last bit; but for those of which it was not known
# in time how long they waited for others. These are few.
same_scores() {
    local model=$1 trace=$2 function=$3 step n unknown
    shift 3
    damaged_too "$SNAG" score "$trace" --model "$model" -o scored.snag --force --quiet >/dev/null
    "$(dirname "$EXECUTIONS")/run_scores" scored.snag | sort >after.csv
    n=$(wc -l <after.csv)
    [ "$n" -gt 0 ] || complain "$model: no executions"
    for step in "$@"; do
        "$EXECUTIONS" --model "$model" --step "$step" "$trace" "$function" | sed 1d >steps.csv
        cut -d, -f1,8,9,10 steps.csv | sort >during.csv
        grep -v ',known$' steps.csv | cut -d, -f1,8,9,10 | sort >unknown.csv
        unknown=$(wc -l <unknown.csv)
        [ "$(wc -l <during.csv)" = "$n" ] || complain "$model: other executions in steps of $step s"
        comm -13 after.csv during.csv | comm -23 - unknown.csv >different.txt
        [ ! -s different.txt ] || {
            complain "$model: of $n executions $(wc -l <different.txt) have another score, verdict or" \
                "part in steps of $step s"
            head -n 3 different.txt | cut -d, -f1 | while read -r id; do
                grep -h "^$id," after.csv during.csv
            done
        }
        [ $((1000 * unknown)) -le $((most_unknown * n)) ] || complain "$model: of $unknown executions of $n it is" \
            "not known in time how long they waited, in steps of $step s"
        grep -v -e ',known$' -e ",$unknown_because$" steps.csv >other.txt &&
            complain "$model: not known in steps of $step s: $(cut -d, -f1,12 other.txt | head -n 3)"
        [ -z "${SAY_UNKNOWN:-}" ] || {
            echo "$model, $step s: $unknown of $n not known"
            cut -d, -f12 steps.csv | sort | uniq -c
        }
    done
}
