#!/usr/bin/env bash
# A real Prometheus scrapes a parameter server and a detector: of few ranks and of 10,000 there are the
# same series; the rules and the dashboard of share/ name series that are there.
#
#   prometheus.sh SNAG SOURCE_DIRECTORY
set -u
snag=$1 source=$2
for tool in prometheus promtool jq curl; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
unset ${!SNAG_*} ${!SLURM_*}
work=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
failed=0
fail() {
    echo "$*"
    failed=1
}

# begin NAME ARGS...: a server in the background that says where; sets $url of its metrics
begin() {
    local name=$1
    shift
    "$snag" "$@" --metrics 0 --run-id run-7 >"$name.said" 2>"$name.err" &
    pids+=($!)
    until grep -qs /metrics "$name.said"; do
        kill -0 "${pids[-1]}" 2>/dev/null || { cat "$name.err"; exit 1; }
        sleep 0.05
    done
    url=$(grep -o 'http://[^"]*/metrics' "$name.said")
}
target() { echo "${url#http://}" | cut -d/ -f1; }

mkdir kept
begin ps ps --interval 0.1 --snapshot kept/job.ps
address=$(head -n 1 ps.said) ps=$(target)
begin few ad 'synth:1000000*step(c@10ms >1 <1);ranks=10;jitter=0.05' --speed 1 --step 0.05 --store store --ps "$address"
few=$(target)
begin many ad 'synth:1000*step(c@1s);ranks=10000;jitter=0.05' --speed 1 --step 1
many=$(target)

promtool check rules "$source/share/prometheus/snag.rules.yml" || failed=1
cat >prometheus.yml <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [$source/share/prometheus/snag.rules.yml]
scrape_configs:
  - job_name: snag
    static_configs: [{targets: ['$ps', '$few', '$many']}]
END
promtool check config prometheus.yml >/dev/null || fail "promtool does not like the configuration"
# Prometheus takes no port of its own choice, and one that is free may be another's a moment later: then the next.
port=$((20000 + $$ % 10000))
while :; do
    prometheus --config.file=prometheus.yml --storage.tsdb.path="$work/data" --web.listen-address="127.0.0.1:$port" \
        --enable-feature=exemplar-storage >prometheus.log 2>&1 &
    server=$!
    api=http://127.0.0.1:$port/api/v1
    until grep -qs 'Server is ready' prometheus.log; do
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    pids+=($server)
    kill -0 $server 2>/dev/null && break
    grep -q 'address already in use' prometheus.log || { cat prometheus.log; exit 1; }
    port=$((port + 1))
done
# query EXPRESSION: the vector
query() { curl -s --data-urlencode "query=$1" "$api/query" | jq -c '.data.result'; }
# value EXPRESSION: of its only series; empty where there is none
value() { query "$1" | jq -r '.[0].value[1] // empty'; }
# until_is EXPRESSION: it has a series. Whoever runs the test ends it when it never has
until_is() { until [ "$(query "$1" | jq length 2>/dev/null)" -gt 0 ] 2>/dev/null; do sleep 0.2; done; }

until_is "snag_live_calls_total{instance=\"$few\"} > 0"
until_is "snag_live_calls_total{instance=\"$many\"} > 0"
# play RANKS LEAST: until so many have had their turn, which depends on the machine
play() {
    local seed=1
    until [ "$(curl -s "http://$ps/metrics" | sed -n 's/^snag_ps_clients //p')" -ge "$2" ]; do
        "$snag" sim "$address" --ranks "$1" --functions 50 --rate 0.5 --seconds 3 --seed $((seed += 1)) >/dev/null
    done
    until_is "snag_ps_clients{instance=\"$ps\"} >= $2"
}
play 10 3
# What a scrape brought; Prometheus' own series of a target are the same for all.
series() { value "count({instance=\"$1\",__name__=~\"snag_.*\"})"; }
ps_few=$(series "$ps")
[ "$(value snag_ps_clients)" -lt 200 ] || fail "$(value snag_ps_clients) clients of few"
play 10000 10000
ps_many=$(series "$ps")
echo "series of ps: $ps_few with $(value "min_over_time(snag_ps_clients[5m])") clients and $ps_many with $(value snag_ps_clients); of ad: $(series "$few") with 10 ranks and $(series "$many") with 10,000"
[ "$ps_few" -gt 10 ] && [ "$ps_few" = "$ps_many" ] || fail "ranks make series of ps"
[ "$(series "$few")" -gt 10 ] && [ "$(series "$few")" = "$(series "$many")" ] || fail "ranks make series of ad"
[ "$(query 'snag_job_info' | jq 'map(.metric.run_id == "run-7") | all and length == 3')" = true ] || fail "the run id: $(query snag_job_info)"
[ "$(query 'up == 1' | jq length)" = 3 ] || fail "not all are up"

# All that rules and dashboard name is there, and each expression is one.
curl -s "$api/label/__name__/values" | jq -r '.data[]' | sort >there
jq -r '.panels[].targets[].expr' "$source/share/grafana/snag.json" |
    sed 's/\$__rate_interval/1m/g; s/\$instance/.*/g' >expressions
sed -n 's/^ *expr: *//p; /expr: >-/,/labels:/{/expr\|labels/d;s/^ *//;p}' "$source/share/prometheus/snag.rules.yml" >of_rules
[ "$(wc -l <expressions)" -gt 20 ] && [ "$(wc -l <of_rules)" -ge 10 ] || fail "no expressions found: this test has to follow the files"
cat expressions of_rules | grep -o 'snag_[a-z_]*' | sort -u | comm -23 - there >missing
[ ! -s missing ] || fail "not there: $(cat missing)"
while read -r expression; do
    [ "$(query "$expression" | jq 'length > 0')" = true ] || fail "nothing for $expression"
done <expressions
until [ "$(curl -s "$api/rules" | jq '[.data.groups[].rules[].health] | length > 0 and all(. != "unknown")')" = true ]; do sleep 0.2; done
[ "$(curl -s "$api/rules" | jq '[.data.groups[].rules[].health] | all(. == "ok")')" = true ] ||
    fail "rules: $(curl -s "$api/rules" | jq -c '[.data.groups[].rules[] | select(.health != "ok") | .lastError]')"

# An alert comes when there is reason.
mv kept away
until_is 'snag_ps_snapshot_failing == 1'
until [ "$(curl -s "$api/alerts" | jq -r '[.data.alerts[].labels.alertname] | index("SnagSnapshotFailing") != null')" = true ]; do sleep 0.2; done
exit $failed
