# Sourced by the tests of executions while a program runs:
#
#   SNAG and EXECUTIONS are set: the program, and tests/live/live_executions.c
#   the current directory is one to write to

failed=0

complain() {
    echo "$*"
    failed=1
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
    grep -q ',anomaly,' first.csv || complain "$function $*: no anomalies"
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

# same_scores MODEL TRACE FUNCTION STEP...: what snag score says of the finished trace.
same_scores() {
    local model=$1 trace=$2 function=$3 step
    shift 3
    "$SNAG" score "$trace" --model "$model" -o scored.snag --force --quiet >/dev/null
    "$SNAG" query scored.snag --format csv "SELECT '#' || rank || CASE WHEN thread > 0
        THEN '.' || thread ELSE '' END || '-' || idx AS id, printf('%.17g', score) AS score,
        verdict FROM execution" | sed 1d | sort >after.csv
    for step in "$@"; do
        "$EXECUTIONS" --model "$model" --step "$step" "$trace" "$function" | sed 1d |
            cut -d, -f1,8,9 | sort >during.csv
        join -t, after.csv during.csv | awk -F, -v all="$(wc -l <after.csv)" '
            { d = $2 - $4; if (d < 0) d = -d; if (d > worst) worst = d
              other += $3 != $5; strange += $3 == "anomaly" }
            END {
                printf "%d executions, %d anomalies, scores differ by up to %g, %d verdicts\n",
                    NR, strange, worst, other
                exit NR != all || NR == 0 || worst > 1e-12 || other > 0 || strange == 0
            }' || complain "$model: other scores in steps of $step s"
    done
}
