#!/usr/bin/env bash
# Programs in Python: each call of their functions is in the trace, the threads' too, as they wrote down themselves,
# and they do not notice. With mpi4py a function that sleeps on one rank is named, and what it lost.
#
#   python.sh SNAG SOURCES
set -eu
snag=$1 source=$2
. "$(dirname "$0")/../support/find_python.sh"
. "$(dirname "$0")/../support/own_directory.sh"
export PYTHONDONTWRITEBYTECODE=1

fail() {
    echo "$*"
    head -n 40 out err 2>/dev/null
    exit 1
}

# record STATUS TRACE ARGUMENTS... -- what it prints goes to out and err
record() {
    local want=$1 trace=$2 status=0
    shift 2
    timeout 100 "$snag" record -o "$trace" "$@" >out 2>err </dev/null || status=$?
    [ $status -eq "$want" ] || fail "$*: status $status, not $want"
}

# calls TRACE FUNCTION
calls() {
    "$snag" info "$1" --json --all | jq -r --arg f "$2" '[.regions[] | select(.name == $f).calls] | add // 0'
}

# sequences TRACE PATTERN -- in files TRACE.LOCATION: what functions that match began and ended, in order
sequences() {
    otf2-print "$1/traces.otf2" >events 2>otf2.err && [ ! -s otf2.err ] || fail "otf2-print complains: $(cat otf2.err)"
    awk -v trace="$1" -v pattern="$2" '/^(ENTER|LEAVE) / {
        match($0, /"[^"]*"/); name = substr($0, RSTART + 1, RLENGTH - 2)
        if (name ~ pattern && sub(/^[^:]*:/, "", name))
            print ($1 == "ENTER" ? "enter" : "leave"), name > (trace "." $2)
    }' events
}

for tool in jq otf2-print; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
python=$(find_python threading 'sys.version_info >= (3, 11)') || { echo "no Python 3.11 or later is installed"; exit 77; }

# the call trees of all threads are what the program wrote down, and a filter holds for them
cat >filter <<END
exclude *
include kinds.py:*
exclude kinds.py:_*
exclude kinds.py:<*
exclude kinds.py:*.<genexpr>
exclude kinds.py:Thing
exclude kinds.py:Thing.Part
exclude kinds.py:Awaited*
END
mkdir written
SNAG_TRACER_FILTER=$dir/filter record 5 kinds -- "$python" "$source/kinds.py" written
grep -q '4 threads' err || fail "not all threads are recorded"
sequences kinds '^kinds[.]py:'
[ "$(cat written/* | wc -l)" -gt 4000 ] || fail "the program has not run as it should"
[ "$(md5sum <written/MainThread)" = "$(md5sum <kinds.0)" ] || fail "other calls: $(diff written/MainThread kinds.0 | head)"
[ "$(md5sum written/* | cut -d' ' -f1 | sort)" = "$(md5sum kinds.[0-9]* | cut -d' ' -f1 | sort)" ] ||
    fail "the threads' calls are others"
otf2-print -G kinds/traces.otf2 >definitions
line=$(grep -n 'def doubled' "$source/kinds.py" | cut -d: -f1)
grep -q "Name: \"kinds.py:Thing.doubled\".*File: \"$source/kinds.py\" <[0-9]*>, Begin: $((line - 1))," definitions ||
    grep -q "Name: \"kinds.py:Thing.doubled\".*File: \"$source/kinds.py\" <[0-9]*>, Begin: $line," definitions ||
    fail "Thing.doubled is not on line $line: $(grep doubled definitions)"

# modules are named as they are imported, and what imports them is not there
record 0 library -- "$python" -c 'import json; json.loads("[1]")'
[ "$(calls library json/decoder.py:JSONDecoder.decode)" = 1 ] && [ "$(calls library json/__init__.py:loads)" = 1 ] ||
    fail "json is not there by its name"
"$snag" info library --json --all | jq -e 'all(.regions[].name; startswith("<frozen") | not)' >/dev/null ||
    fail "what imports is recorded"

mkdir -p package/part
: >package/part/__init__.py
echo 'def f(): pass' >package/part/same.py
echo 'def f(): pass' >package/same.py
echo 'import same, part.same; same.f(); part.same.f(); part.same.f()' >package/main.py
for script in package/main.py package/../package/main.py "$dir/package/main.py" package/./main.py; do
    record 0 names -- "$python" "$script"
    [ "$(calls names main.py:'<module>') $(calls names same.py:f) $(calls names part/same.py:f)" = '1 1 2' ] ||
        fail "$script: files are not named as they are imported"
    rm -r names
done
(cd package && record 0 ../names -- "$python" ./main.py) || exit
[ "$(calls names main.py:'<module>')" = 1 ] || fail "./main.py is not named as main.py is"

# the program is as without us
"$python" "$source/guest.py" >alone 2>alone.err && fail "guest.py ends well"
record 7 guest -- "$python" "$source/guest.py"
diff alone out >differences || fail "the program notices: $(cat differences)"
grep -v '^snag:' err >own.err || true
[ "$(sed 's/{.*}//' alone.err)" = "$(sed 's/{.*}//' own.err)" ] || fail "it prints other errors: $(cat own.err)"
[ "$(calls guest guest.py:sums)" = 1 ] || fail "what a child calls is taken for the parent's"
[ "$(calls guest guest.py:depth)" -gt 900 ] && [ "$(calls guest guest.py:processes)" = 1 ] ||
    fail "calls are missing after a deep recursion"

# what a child of a fork calls first has no place among the functions of its parent, however calls are told
for each in "$python" $(find_python os 'sys.version_info >= (3, 12)'); do
    rm -rf forked
    record 0 forked -- "$each" "$source/forked.py"
    [ "$(calls forked forked.py:parent) $(calls forked forked.py:last)" = '1 3' ] &&
        [ "$(calls forked forked.py:child) $(calls forked forked.py:grandchild)" = '0 0' ] ||
        fail "$each: functions have the names of others: $("$snag" info forked --json --all | jq -c '[.regions[].name]')"
done

# a small function that is called very often is left out, if that is wanted
record 0 less --overhead 0.1% -- "$python" "$source/often.py"
grep -q 'no longer recorded, .*: often.py:tiny, [0-9,]* calls from' err || fail "it does not say what is left out"
"$snag" info less --json | jq -e '.left_out | length == 1 and .[0].name == "often.py:tiny" and .[0].calls > 1e6' >/dev/null ||
    fail "not tiny alone is left out"
[ "$(calls less often.py:step)" = 20 ] || fail "steps are missing"

# other ways to find functions are there if they are wanted, and know nothing of Python
record 1 nothing --stacks -- "$python" -c 'pass'

# ------------------------------------------------------------------------------------ mpi4py
[ -e "$(dirname "$snag")/tracer/libsnag-tracer.so" ] && command -v mpirun.openmpi >/dev/null && python=$(find_python mpi4py.MPI 'sys.version_info >= (3, 11)') || {
    echo "skipped: no mpi4py of Open MPI for Python 3.11 or later, or no tracer of it; programs without MPI: all is well"
    exit 77
}
record 0 halo --tracer openmpi -- mpirun.openmpi -n 2 "$python" "$source/halo.py" 1 23 41 60 88
[ "$(wc -l <out)" = 4 ] || fail "the program has not run as it should"
sort -n out >slept
grep -q 'of 2 ranks, 2 threads; [0-9]* functions and MPI' err || fail "not functions and MPI"
for function in step Field.compute Field.tables Field.exchange Field.total; do
    [ "$(calls halo halo.py:$function)" = 200 ] || fail "not all calls of $function are there"
done
# calls of MPI are in the function that made them
sequences halo '^(halo[.]py:Field|MPI_Sendrecv)'
otf2-print halo/traces.otf2 | awk '/^ENTER/ { match($0, /"[^"]*"/); name = substr($0, RSTART + 1, RLENGTH - 2)
        if (name == "MPI_Sendrecv") print open[$2, n[$2]]
        open[$2, ++n[$2]] = name }
    /^LEAVE/ { n[$2]-- }' | sort | uniq -c | tr -s ' ' >callers
[ "$(cat callers)" = " 200 halo.py:Field.exchange" ] || fail "MPI_Sendrecv is called by: $(cat callers)"

# and have its line, where it is known how versions keep that
if "$python" -c 'import sys; sys.exit(sys.version_info >= (3, 14))'; then
    line=$(grep -n 'comm.Sendrecv' "$source/halo.py" | cut -d: -f1)
    [ "$(calls halo "MPI_Sendrecv@halo.py:$line")" = 200 ] || fail "MPI_Sendrecv is not on line $line"
fi

# of each sleep snag names the function and the rank, and what it took longer: no less than the sleep, no more than the
# call. Whether that is an anomaly depends on what else the machine does.
"$snag" analyze halo --foi step -o halo.snag --quiet >/dev/null || fail "snag analyze ends with $?"
n_causes=0
while read -r step slept_ns took_ns; do
    for rank in 0 1; do
        "$snag" show halo.snag "#$rank-$step" --json >of.$rank || fail "snag show ends with $?"
    done
    jq -e --argjson slept "$slept_ns" --argjson took "$took_ns" '.paths[] |
        select(.path == ["halo.py:step", "halo.py:Field.tables"]) |
        .excess_ns >= 0.99 * $slept and .excess_ns <= $took' of.1 >/dev/null ||
        fail "step $step slept $slept_ns ns in tables on rank 1: $(jq -c '.paths[0]' of.1)"
    jq -e --argjson slept "$slept_ns" 'any(.paths[]; .path[-1] == "halo.py:Field.tables" and .excess_ns > $slept) | not' \
        of.0 >/dev/null || fail "rank 0 is blamed for step $step"
    if jq -e 'any(.cause[]?; .rank == 1 and .function == "halo.py:Field.tables")' of.0 >/dev/null; then
        n_causes=$((n_causes + 1))
    fi
done <slept
[ $n_causes -gt 0 ] || fail "rank 0 never waits for what tables do on rank 1: $(jq -c .why of.0)"
echo "calls of $(cat written/* | wc -l) begins and ends; 4 of 4 sleeps found, $n_causes behind what rank 0 waits for"
