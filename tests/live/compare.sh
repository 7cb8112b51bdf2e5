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

# same_scores MODEL TRACE FUNCTION STEP...: score, verdict and part of every execution are those
# that snag score has of the finished trace, to the last bit. But for those that may have waited for
# others for long: who came late is not looked at while the program runs.
same_scores() {
    local model=$1 trace=$2 function=$3 step
    shift 3
    damaged_too "$SNAG" score "$trace" --model "$model" -o scored.snag --force --quiet >/dev/null
    "$(dirname "$EXECUTIONS")/run_scores" scored.snag | sort >all.csv
    [ "$(wc -l <all.csv)" -gt 0 ] || complain "$model: no executions"
    for step in "$@"; do
        "$EXECUTIONS" --model "$model" --step "$step" "$trace" "$function" | sed 1d | sort >steps.csv
        [ "$(wc -l <steps.csv)" = "$(wc -l <all.csv)" ] || complain "$model: other executions in steps of $step s"
        sed -n 's/,1$//p' steps.csv | cut -d, -f1,8,9,10 | sort >during.csv
        [ -s during.csv ] || complain "$model: all may have waited"
        LC_ALL=C join -t, <(LC_ALL=C sort -t, -k1,1 all.csv) <(cut -d, -f1 during.csv | LC_ALL=C sort) | sort >after.csv
        diff after.csv during.csv >different.txt || {
            complain "$model: of $(wc -l <after.csv) executions $(grep -c '^>' different.txt) have" \
                "another score, verdict or part in steps of $step s"
            head -n 6 different.txt
        }
    done
}

