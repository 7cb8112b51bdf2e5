#!/usr/bin/env bash
# Runs the lines of NAME.cmd one by one in an empty directory and compares what they print, with
# their exit statuses, with NAME.out. In it stand "$ " and the line, what it wrote to both
# streams, and "[N]" where it ended with N and not with 0.
#
#   run.sh SNAG SAMPLE_ARCHIVE NAME.cmd
#
# How large stores are is SQLite's business: sizes that are "stored" are N there.
#
# UPDATE=1 writes NAME.out anew: read what changed before you keep it. A line "#needs TOOL" skips
# the test where the tool is missing, "#needs pseudo-terminal" where script(1) gets none, as in some containers.
set -eu
snag=$1 sample_archive=$2 cmd=$3

# What ends before it has read all ends who writes to it, sometimes: `sed -n 1,3p` reads on.
if grep -nE '\| *(head|grep -[a-zA-Z]*q)' "$cmd" | grep -v 'set +o pipefail\|until '; then
    echo "$cmd: head and grep -q close the pipe before its writer is done: sed -n, grep >/dev/null"
    exit 1
fi

for tool in $(sed -n 's/^#needs //p' "$cmd"); do
    if [ "$tool" = pseudo-terminal ]; then
        script -qec true /dev/null </dev/null >/dev/null 2>&1 || {
            echo "no pseudo-terminal can be opened here, as in a container without /dev/pts"
            exit 77
        }
        continue
    fi
    command -v "$tool" >/dev/null || {
        echo "$tool is not here"
        exit 77
    }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in ${!SNAG_*} NO_COLOR COLUMNS LINES; do
    unset "$name"
done
export LC_ALL=C TZ=UTC TERM=dumb
PATH=$(dirname "$snag"):$(dirname "$sample_archive"):$PATH

run_lines() {
    local line status
    while IFS= read -r line; do
        [[ $line == '#needs '* || -z $line ]] && continue
        if [[ $line == '#'* ]]; then
            printf '\n%s\n' "$line"
            continue
        fi
        printf '$ %s\n' "$line"
        status=0
        bash -o pipefail -c "$line" </dev/null 2>&1 || status=$?
        [ $status -eq 0 ] || printf '[%d]\n' $status
    done
}

mkdir "$work/here"
(cd "$work/here" && run_lines) <"$cmd" | sed -E 's/[0-9.]+ [KM]iB stored/N stored/' >"$work/out"
if [ "${UPDATE:-}" = 1 ]; then
    cp "$work/out" "${cmd%.cmd}.out"
fi
diff -u "${cmd%.cmd}.out" "$work/out"
