#!/usr/bin/env bash
# hostile.sh SNAG HOSTILE_ARCHIVE [KIND... | I/N] -- valid archives that no program would ever leave, each
# through all that snag does with one: no command crashes, takes more than 4 GB, hangs (after
# SNAG_HOSTILE_S seconds), or calls damaged what analyze has made. I/N: every N-th kind.
set -u
snag=$(realpath "$1")
hostile=$(realpath "$2")
shift 2
. "$(dirname "$0")/../support/own_directory.sh"

export ASAN_OPTIONS="exitcode=99:hard_rss_limit_mb=4096:detect_leaks=0:allocator_may_return_null=1"
export UBSAN_OPTIONS="exitcode=99:halt_on_error=1:print_stacktrace=1"
n=0
n_wrong=0

# Whether it is instrumented: then memory is bounded by its runtime, as its addresses are not.
nm "$snag" 2>/dev/null | grep -q __asan_init && is_asan=1 || is_asan=0

# try STATUSES WORDS... -- one command, which ends with one of these.
try() {
    local wanted=$1 status
    shift
    n=$((n + 1))
    (
        [ $is_asan = 1 ] || ulimit -v 4194304
        exec timeout "${SNAG_HOSTILE_S:-900}" "$snag" "$@"
    ) >out 2>err </dev/null
    status=$?
    if [[ " $wanted " != *" $status "* ]] || grep -qE 'damaged run|runtime error|AddressSanitizer|died of signal' err; then
        printf '%s: snag %s: status %d\n' "$kind" "$*" $status
        head -c 1500 err
        n_wrong=$((n_wrong + 1))
    fi
    return $status
}

# What is asked of a run, by commands and by a page.
ask_run() {
    local id
    try "0" list r.snag --executions --json
    id=$(sed -n 's/.*"id": "\([^"]*\)".*/\1/p' out | head -1)
    try "0" list r.snag
    try "0 1 2" show r.snag "$id"
    try "0 1 2" show r.snag "$id" --json
    try "0 1" ranks r.snag
    try "0 1" what-if r.snag --without anomalies
    try "0 1" what-if r.snag --without rank=0 --json
    try "0 1" report r.snag -o r.html
    try "0" export r.snag -o x.csv
    try "0" export r.snag --what calls -o x.csv
    try "0" export r.snag --what calls --format chrome -o x.json
    try "0" export r.snag --format parquet -o x/
    try "0" query r.snag 'SELECT * FROM region' --format csv
    try "0 1" next r.snag
    try "0 1 2" label r.snag "$id=abnormal"
    try "0 1" retrain r.snag
    try "0 1 2" project r.snag
    try "0 1" model save r.snag m.model
    try "0 1" model info m.model
    try "0 1 3" score t --model m.model -o scored.snag
    cp -r r.snag again.snag
    try "0 1" compare r.snag again.snag
    try "0 1" history add h.db r.snag
    try "0 1" history show h.db
}

kinds=${*:-0/1}
[[ $kinds != */* ]] || kinds=$("$hostile" | awk "NR % ${kinds#*/} == ${kinds%/*}")
for kind in $kinds; do
    rm -rf ./* && mkdir t && "$hostile" "$kind" t || exit 1
    try "0 1 3" info t
    if try "0 1 3" analyze t -o r.snag || [ $? = 3 ]; then
        ask_run
    fi
    try "0 1 3" analyze t --per-call -o p.snag
    try "0 1 3" ad replay:t --step 0.001 --store st
    try "0 1 3" ad replay:t --model-key path
    if [ -d st ]; then
        try "0" provdb top st
        try "0" query st 'SELECT count(*) FROM func_stats'
        try "0" export st --what anomalies -o x.csv
    fi
done
echo "$n commands, $n_wrong wrong"
[ $n_wrong = 0 ]
