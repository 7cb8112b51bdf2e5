#!/usr/bin/env bash
# Two of us at once, and one after the other: who writes what somebody else writes is told so in one
# line; who is killed leaves no lock; what could not be stored is not said to be; and what a stranger
# has put into a store hurts nobody outside it.
#
#   together.sh SNAG LIVE_COMPARE TRACER_PROGRAM
set -u
snag=$1 compare=$2 tracer_program=$3
unset ${!SNAG_*}
work=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
failed=0

fail() {
    printf '%s: %s\n' "$part" "$*"
    failed=1
}
# is WHAT HAS WANTS
is() {
    [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}
# refused FILE WORDS...: one line that has the words
refused() {
    local file=$1 word
    shift
    [ "$(wc -l <"$file")" -eq 1 ] || fail "not one line: $(cat "$file")"
    for word; do grep -qF -- "$word" "$file" || fail "no '$word' in: $(cat "$file")"; done
}
# begin FILE COMMAND...: in the background, until the file has something in it; sets $pid
begin() {
    local file=$1
    shift
    rm -f "$file"
    "$@" >"$file" 2>"$file.err" &
    pid=$!
    pids+=($pid)
    until [ -s "$file" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
}
# until_there FILE
until_there() {
    until [ -e "$1" ]; do sleep 0.01; done
}

program='synth:3000*step(compute@1ms(a 3*b) c@200us);ranks=2;jitter=0.1;slow=c/80/30/1'
short='synth:300*step(compute@1ms(a 3*b) c@200us);ranks=2;jitter=0.1;slow=c/80/30/1'

long='synth:300000*step(compute@1ms(a 3*b) c@200us);ranks=2;jitter=0.1;slow=c/80/30/1' # until it is killed

part='a store that is written'
"$snag" ad "$long" --step 0.05 --speed 1 --store one >/dev/null 2>first.err &
first=$!
pids+=($first)
until_there one/shard-0000.db
"$snag" ad "$short" --store one 2>second.err >/dev/null
is 'status' $? 1
refused second.err "writing 'one'"
"$snag" ad "$short" --rank 0 --store one 2>second.err >/dev/null
is 'status with a rank' $? 1
kill -9 $first
wait $first 2>/dev/null
for ((i = 0; i < 100; i++)); do # its child ends with it
    "$snag" ad "$short" --store one >/dev/null 2>&1 && break
    sleep 0.05
done
"$snag" ad "$short" --store one --quiet 2>&1 >/dev/null
is 'status after it was killed' $? 0
[ ! -e one/lock ] || fail "a lock stays"

part='a run is no store, and a store no run'
"$snag" analyze "$short" --foi step -o run.snag >/dev/null
"$snag" list run.snag >before
"$snag" ad "$short" --store run.snag 2>err >/dev/null
is 'status' $? 1
refused err "'run.snag'" 'run'
"$snag" list run.snag >after
cmp -s before after || fail "the run is another one"
[ ! -e run.snag/shard-0000.db ] || fail "there is a store in the run"
"$snag" analyze "$short" --foi step -o one 2>err >/dev/null
is 'status' $? 1
refused err "'one'"
"$snag" query one 'SELECT 1 AS one' >/dev/null || fail "the store is none any more"

part='what fails leaves no store'
printf 'hello\n' >nonsense.json
for trace in nowhere nonsense.json "tracer:$work/sock"; do
    "$snag" ad "$trace" --connect-timeout 0.2 --store vain 2>err >/dev/null
is "status of $trace" $? 1
    [ ! -e vain ] || fail "$trace leaves $(ls vain)"
    rm -rf vain
done

part='a store that is removed'
"$snag" ad "${program/3000/12000}" --step 0.05 --speed 2 --store gone --json >gone.json 2>gone.err &
first=$!
pids+=($first)
until "$snag" query gone 'SELECT func FROM func_stats' 2>/dev/null | grep -q compute; do
    kill -0 $first || fail "it ends before it has stored anything"
    sleep 0.01
done
rm -r gone
wait $first
is status $? 3
is 'what is stored' "$(grep -o '"stored_anomalies": [0-9]*' gone.json)" '"stored_anomalies": 0'
grep -q '"store_error": ".*removed' gone.json || fail "no error in $(cat gone.json)"
is 'lines of the log' "$(grep -c 'shard 0 cannot be written: .*removed' gone.err)" 1
[ ! -e gone ] || fail "it is there again"

part='two parameter servers with one snapshot'
begin ps1 "$snag" ps --snapshot models.ps --interval 0.05
server=$pid
timeout 20 "$snag" ps --snapshot models.ps 2>err >/dev/null
is status $? 1
refused err "process $server" models.ps
kill -9 $server
wait $server 2>/dev/null
begin ps1 "$snag" ps --snapshot models.ps
[ -s ps1 ] || fail "none starts after one was killed: $(cat ps1.err)"
kill $pid
wait $pid
[ ! -e models.ps.lock ] || fail "a lock stays"

part='a parameter server that has lost everything'
trace='synth:1500*step(compute@1ms(a 3*b) c@200us(a));ranks=3;jitter=0.1;slow=c/400/30/1;slow=b/900/20/2'
begin ps1 "$snag" ps --snapshot whole.ps --interval 0.05
for i in 0 1; do "$snag" ad "$trace" --step 0.05 --ps "$(cat ps1)" --rank $i >/dev/null; done
kill $pid
wait $pid
begin ps1 "$snag" ps --snapshot lost.ps --interval 0.05
address=$(cat ps1)
instances=()
for i in 0 1; do
    "$snag" ad "$trace" --step 0.05 --speed 0.2 --ps "$address" --rank $i --json >ad$i.json 2>ad$i.err &
    instances+=($!)
    pids+=($!)
done
go_on() { kill -0 "${instances[@]}" 2>/dev/null || { fail 'the instances were over before'; false; }; }
until grep -qas compute lost.ps || ! go_on; do sleep 0.01; done # it has been told something
for i in 1 2 3 4; do                                            # and more, so that it has answered, too
    was=$(stat -c %i lost.ps)
    while [ "$(stat -c %i lost.ps)" = "$was" ] && go_on; do sleep 0.01; done
done
kill -9 $pid
wait $pid 2>/dev/null
begin ps1 "$snag" ps --snapshot again.ps --interval 0.05 --listen "$address"
for i in "${instances[@]}"; do
    wait $i
    is 'status of an instance' $? 0
done
kill $pid
wait $pid
"$compare" models whole.ps again.ps >compared || fail "the models are others: $(cat compared)"
grep -q '"is_complete": true' ad0.json || fail "it says that it is not complete"
grep -q 'was restarted' ad0.err ad1.err || fail "nobody says what has happened"

# runs N: until the totals of so many runs are said
runs() {
    local i
    for ((i = 0; i < 1000; i++)); do
        [ "$(grep -c 'calls, .* strange' watched)" -ge "$1" ] && return
        sleep 0.02
    done
    fail "$1 runs are never over: $(cat watched)"
}

part='a program that runs again'
begin watched "$snag" watch "tracer:$work/socket" --store kept --port 0 --min-count 50
watch=$pid
for run in 1 2 3; do
    "$tracer_program" "$work/socket" $((1000 + run)) >said || fail "run $run is not heard: $(cat said)"
    runs $run
done
kill -TERM $watch
wait $watch
is 'status of the watch' $? 0
is 'the lines' "$(grep -c '200 calls, 1 strange' watched)" 3
is 'what is said of the others' "$(grep 'runs again' watched | sort)" "$(printf '%s\n' \
    'the program runs again: run 2, stored in kept-2' \
    'the program runs again: run 3, stored in kept-3')"
for store in kept kept-2 kept-3; do
    is "records of $store" "$("$snag" query $store 'SELECT count(*) AS n FROM anomalies' --format csv | tail -n 1)" 1
done
is 'what stands on stderr' "$(cat watched.err)" ''

part='a program that has lost events'
for option in '' lost; do
    "$snag" ad "tracer:$work/socket" --min-count 50 --json >lost.json 2>lost.err &
    pids+=($!)
    "$tracer_program" "$work/socket" 3001 $option >said || fail "it is not heard: $(cat said)"
    wait $!
    is "status${option:+ of $option}" $? $((${#option} > 0 ? 3 : 0))
done

part='two programs at once'
begin watched "$snag" watch "tracer:$work/socket" --store both --port 0 --min-count 50
watch=$pid
mkfifo hold
"$tracer_program" "$work/socket" 2001 hold <hold >first &
pids+=($!)
exec 9>hold
until "$snag" query both 'SELECT count(*) AS n FROM anomalies' --format csv 2>/dev/null | grep -qx 1; do sleep 0.02; done
for i in 1 2 3 4 5; do
    "$tracer_program" "$work/socket" 2002 >said
    is 'status of the second' $? 3
    grep -q '(process 2001) .*one program at a time' said || fail "it is told '$(cat said)'"
done
exec 9>&-
runs 1
"$tracer_program" "$work/socket" 2002 >said || fail "it is no run of its own: $(cat said)"
runs 2
kill -TERM $watch
wait $watch
is 'status of the watch' $? 0
refused watched.err '(process 2002)' '(process 2001)' "$work/socket"
is 'what is stored of both' "$("$snag" query both 'SELECT count(*) AS n FROM anomalies' --format csv | tail -n 1)" 1

exit $failed
