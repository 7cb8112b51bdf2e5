#!/usr/bin/env bash
# snag record: programs without MPI, compiled for the tracer or not, and how they end.
#
#   record.sh SNAG INSTRUMENTED PLAIN
set -eu
snag=$1 instrumented=$2 plain=$3
. "$(dirname "$0")/../support/own_directory.sh"

fail() {
    echo "$*"
    cat out err
    exit 1
}

# record STATUS ARGUMENTS... -- what it prints goes to out and err.
record() {
    local want=$1 status=0
    shift
    "$snag" record "$@" >out 2>err </dev/null || status=$?
    [ $status -eq "$want" ] || fail "record $*: status $status, not $want"
}

said() {
    grep -qF -- "$1" err || fail "it does not say '$1'"
}

# calls TRACE FUNCTION
calls() {
    "$snag" info "$1" --json | jq -r --arg f "$2" '.regions[] | select(.name == $f).calls'
}

for tool in jq curl; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done

record 7 "$instrumented" 7 --json # what follows the program is the program's
[ "$(cat out)" = --json ] || fail "standard output is not the program's alone"
said "recorded in 'snag-trace': 124 events of 1 rank, 2 threads; 4 functions"
said "next: snag analyze snag-trace"
[ "$(calls snag-trace step)" = 20 ] && [ "$(calls snag-trace work)" = 40 ] || fail "calls are missing"
"$snag" analyze snag-trace --foi step -o step.snag >/dev/null

record 0 --quiet -- "$instrumented"
[ ! -s err ] && [ -s snag-trace-2/traces.otf2 ] || fail "the second trace is not in snag-trace-2"

record 7 --json -o as-json "$instrumented" 7
[ "$(jq -c '[.trace, .ranks, .threads, .events, .functions, .has_mpi, .status]' err)" = \
    '["as-json",1,2,124,4,false,7]' ] || fail "as JSON it says something else"
record 1 --json "$plain"
[ "$(jq -c . err)" = '{"trace":null,"status":0}' ] || fail "as JSON nothing is something"

record 1 -o plain "$plain"
said "was not compiled with -finstrument-functions"
record 1 --quiet -o plain "$plain"
said "was not compiled with -finstrument-functions" # it is why the status is not the program's
said "--sample 200Hz finds what computes"
[ ! -e plain ] || fail "a trace of nothing"

record 0 -o sub/two -- sh -c '"$0" & "$0"; wait' "$instrumented"
said "1 more process: 'sub/two/process-2'"
[ "$(calls sub/two step)" = 20 ] && [ "$(calls sub/two/process-2 step)" = 20 ] ||
    fail "of two processes not each has its trace"
record 0 --json -o json-two -- sh -c '"$0" & "$0"; wait' "$instrumented"
[ "$(grep '^{' err | jq -c '[.trace, .traces]')" = '["json-two",2]' ] && [ -s json-two/process-2/traces.otf2 ] ||
    fail "as JSON the second process is missing"

record 1 -o sub/two "$plain"
said "is there already"
record 1 ./nowhere
said "cannot run './nowhere'"
record 137 -o killed "$instrumented" -9
said "1 of 1 process did not end by exit: what was recorded until then is there"
[ "$(calls killed step)" = 20 ] && [ "$(calls killed work)" = 40 ] ||
    fail "calls of a program that was killed are missing"

# what becomes of its directory while the program runs is said as it is
gone() { # STATUS HOW SENTENCE
    rm -rf gone went
    record $1 -o gone -- sh -c '"$0" && eval "$1"' "$instrumented" "$2"
    said "$3"
    ! grep -q 'was not compiled\|nothing was recorded' err || fail "after '$2' it says what is not so"
}
gone 1 'rm -rf gone' "there is no trace: 'gone' was removed while the program ran"
[ ! -e gone ] || fail "it is there again"
gone 1 'rm -rf gone && touch gone' "there is no trace: 'gone' was removed while the program ran"
gone 1 'rm -rf gone && mkdir gone' "there is no trace: 'gone' was removed while the program ran"
[ -d gone ] || fail "another one's directory was removed"
gone 1 'rm -rf gone/*' "there is no trace: files in 'gone' were removed while the program ran"
gone 1 'rm -rf gone/traces.unfinished' "there is no trace: files in 'gone' were removed while the program ran"
gone 0 'mv gone went' "'gone' was moved to '$dir/went' while the program ran"
said "next: snag analyze $dir/went"
[ "$(calls went step)" = 20 ] && [ ! -e gone ] || fail "what was moved has no trace"
rm -rf went
record 0 --quiet -o gone -- sh -c '"$0" && mv gone went' "$instrumented"
[ "$(cat err)" = "snag: 'gone' was moved to '$dir/went' while the program ran" ] || fail "with --quiet it is not found"
record 7 --json -o gone -- sh -c '"$0"; rm -rf gone; exit 7' "$instrumented"
[ "$(jq -c . err)" = "{\"trace\":null,\"trouble\":\"'gone' was removed while the program ran\",\"status\":7}" ] ||
    fail "as JSON it does not say that it was removed"
touch file
record 1 -o file/trace "$instrumented"
said "there is no trace: cannot make 'file/trace': Not a directory"
record 1 -o empty/and/deep "$plain"
[ ! -e empty ] || fail "what was made for nothing stays"
record 1 --finish nowhere
[ "$(cat err)" = "snag: 'nowhere' is not there" ] || fail "what is not there was tried to be finished"

# ... and what cannot be read now is not lost; nobody is kept from reading who is root
other=$(mktemp -d /tmp/snag-other-XXXXXX) # where another user may go
trap 'rm -rf "$dir" "$other"' EXIT
if [ "$(id -u)" = 0 ]; then
    chown 65534 "$other"
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
if (cd "$other" && ${as[@]+"${as[@]}"} "$instrumented" && ${as[@]+"${as[@]}"} "$snag" --version) >out 2>&1; then
    status=0
    (cd "$other" && ${as[@]+"${as[@]}"} "$snag" record -o shut -- sh -c '"$0"; chmod 0 shut' "$instrumented") >out 2>err || status=$?
    [ $status = 1 ] || fail "a directory that cannot be read: status $status"
    said "cannot open 'shut': Permission denied"
    said "what was recorded stays in 'shut'"
    chmod 755 "$other/shut"
    record 0 --finish "$other/shut"
    [ "$(calls "$other/shut" step)" = 20 ] || fail "what could not be read is not there"
fi

# what the run is called: the job that it is in, but for what is said
SLURM_JOB_ID=4711 record 0 --quiet -o job "$instrumented"
SLURM_JOB_ID=4711 record 0 --quiet --run-id nightly -o named "$instrumented"
[ "$("$snag" info job --json | jq -r .metadata.run_id)" = 4711 ] || fail "the archive does not name its job"
"$snag" analyze named --foi step -o named.snag >/dev/null
[ "$("$snag" query named.snag "SELECT value FROM metadata WHERE key = 'run_id'" --format csv | tail -n 1)" = nightly ] ||
    fail "the run is not called as was said"

# the page, which ends with the program, and is there before it
mkdir tmp
export TMPDIR=$dir/tmp
record 0 --watch --once -o live --foi step --store live.store "$instrumented"
grep -q '^http://127.0.0.1:' err || fail "no page"
said "snag serve live.store shows it again"
[ "$("$snag" query live.store "SELECT calls FROM func_stats WHERE func = 'step'" --format csv | tail -n 1)" = 20 ] ||
    fail "the page has not seen all calls"
[ "$(calls live step)" = 20 ] || fail "no archive beside the page"
[ -z "$(ls tmp)" ] || fail "the socket stays"

# the page stays after the program, until a signal, and then the status is the program's
"$snag" record --watch --least 77ms --false-alarms 5 -o stays "$instrumented" 5 >out 2>err &
recorder=$!
until grep -qs 'the page stays' err; do
    kill -0 $recorder || fail "it does not stay"
    sleep 0.05
done
curl -s "$(grep -o '^http://.*' err)api/v1/live/status" | jq -e '(.is_inclusive | not) and .least_ns == 77000000' >status ||
    fail "the page is not there, or was not told what is least"
kill -TERM $recorder
status=0
wait $recorder || status=$?
[ $status -eq 5 ] || fail "status $status after the page"
record 1 --watch -o nothing ./nowhere
said "cannot run './nowhere'"
[ ! -e nothing.store ] && [ -z "$(ls tmp)" ] || fail "something stays of a program that is not there"
echo "recorded: whole, plain, twice, killed, watched"
