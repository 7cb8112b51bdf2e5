#!/usr/bin/env bash
# A trace written as TAU writes it and read again is the same trace, whatever the format, and
# through a stream as well; a step with nothing in it changes nothing.
#
#   files.sh SNAG TOOLS
set -eu
SNAG=$1 TOOLS=$2
. "$(dirname "$0")/common.sh"

# TAU has whole microseconds only: where there are no others nothing is lost.
program='synth:200*step(compute@1ms(a 3*b@20us));ranks=2;slow=compute/70/10'
mkdir "$work/exact"
"$TOOLS/tau_write" "$program" "$work/exact"
counts "$program" >"$work/want"
counts "$work/exact" | cmp - "$work/want" || failed=1

program='synth:200*step(compute@1ms(a 3*b@20us) >1 <1 |);ranks=3;slow=compute/70/10'
without_times() { jq -c '(.. | arrays | select(length == 4)) |= .[:2] | .[-1][] |= .[:5]'; }
counts "$program" | without_times >"$work/want"
verdicts() { "$TOOLS/stream_verdicts" "$1" 2>/dev/null | sort; }

for engine in BP3 BP4 BP5; do
    mkdir "$work/$engine"
    "$TOOLS/tau_write" "$program" "$work/$engine" engine=$engine
    counts "$work/$engine" | without_times >"$work/got"
    cmp "$work/want" "$work/got" || failed=1
    for rank in 0 1 2; do
        verdicts "$work/$engine/tau-metrics-app-$rank.bp" >"$work/$engine.$rank"
        cmp "$work/BP3.$rank" "$work/$engine.$rank" || failed=1
    done
    check "strange calls of $engine" $(($(wc -l <"$work/$engine.0") > 0)) 1
done

mkdir "$work/narrow" "$work/two" "$work"/empty{3,4,5}
"$TOOLS/tau_write" "$program" "$work/narrow" narrow=1
for bp in 3 4 5; do
    "$TOOLS/tau_write" "$program" "$work/empty$bp" stop=3 how=empty engine=BP$bp
done
for name in narrow empty3 empty4 empty5; do
    counts "$work/$name" | without_times >"$work/got"
    cmp "$work/want" "$work/got" || failed=1
    verdicts "$work/$name/tau-metrics-app-1.bp" | cmp - "$work/BP3.1" || failed=1
done

# Two programs: ranks one behind the other when finished, within their program when live.
"$TOOLS/tau_write" "$program" "$work/two" program=left
"$TOOLS/tau_write" "$program" "$work/two" program=right
check "ranks of two programs" "$("$SNAG" info "$work/two" --json | jq -c '[.location_table[].rank]')" \
    '[0,1,2,3,4,5]'
check "messages of two programs" "$("$SNAG" info "$work/two" --json | jq -c '[.messages, .quality]')" \
    "$("$SNAG" info "$program" --json | jq -c '[2 * .messages, .quality]')"
"$TOOLS/read_stream" "tau:$work/two" show=events | sed -n 's/^\([0-9.]*\) .* enter step$/\1/p' |
    sort | uniq -c | tr -s ' ' | sed 's/^ //' >"$work/got"
printf '200 %s\n' 0.0.0 0.1.0 0.2.0 1.0.0 1.1.0 1.2.0 | cmp - "$work/got" || failed=1

# analyze takes it as any other trace.
check "analyze" "$(status "$SNAG" analyze "$work/BP4" --foi step -o "$work/run.snag" --quiet)" 0
check "executions" "$("$SNAG" list "$work/run.snag" --json --all | wc -l)" 600

# What breaks off: what is there is read, and it is said.
"$TOOLS/tau_write" "$program" "$work/two" program=dead stop=10 how=exit 2>/dev/null || true
mkdir "$work/dead"
mv "$work"/two/tau-metrics-dead-* "$work/dead"
check "info of one that breaks off" "$(status "$SNAG" info "$work/dead" --json)" 3
check "broken off" "$(jq -c .quality.broken_off "$work/out")" 3
for rank in 0 1 2; do
    check "a stream of it" \
        "$(status "$TOOLS/read_stream" "$work/dead/tau-metrics-app-$rank.bp" silence=1000)" 1
done
check "nothing there" "$(status "$TOOLS/read_stream" "tau:$work/nowhere" connect=100)" 1
check "nothing there, in words" "$(wc -l <"$work/err")" 1
# ADIOS2 asks for HOME.
check "without HOME" "$(env -u HOME "$SNAG" info "$work/exact" --json | jq .calls)" \
    "$("$SNAG" info "$work/exact" --json | jq .calls)"
exit $failed
