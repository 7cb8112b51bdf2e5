#!/usr/bin/env bash
# What the archive must do in any root.
#
#   basics.sh ROOT SNAG VERSION   SNAG is its path in there; ROOT/tmp may be written by all
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/in_root.sh"
root=$1 snag=$2 version=$3

# An answer of the server that runs in there, from outside.
check_serve() {
    local log=$root/tmp/serve.log server
    : >"$log"
    in_root "$root" "$snag" serve /tmp/run.snag --port 0 >"$log" 2>&1 &
    server=$!
    wait_for 'http://' "$log"
    { curl -fsS --max-time 20 "$(grep -oE 'http://[^/ ]*' "$log" | head -n 1)/healthz" >"$root/tmp/healthz" &&
        curl -fsS --max-time 20 "$(grep -oE 'http://[^/ ]*' "$log" | head -n 1)/" >"$root/tmp/page.html"; } || {
        cat "$log"
        return 1
    }
    in_root_end "$server"
    grep -q . "$root/tmp/healthz"
}

# What is loaded when it is needed, and all that it needs: linear algebra, ZeroMQ, PostgreSQL's client.
check_loaded() {
    local server
    in_root "$root" "$snag" project /tmp/run.snag >"$root/tmp/project.out" 2>&1 || {
        cat "$root/tmp/project.out"
        return 1
    }
    in_root "$root" "$snag" ps --listen 'tcp://127.0.0.1:*' >"$root/tmp/ps.log" 2>&1 &
    server=$!
    wait_for 'tcp://127.0.0.1:[0-9]' "$root/tmp/ps.log"
    in_root_end "$server"
    in_root "$root" "$snag" history list 'postgresql://somebody@%2Fnowhere/none' >"$root/tmp/pq.out" 2>&1 || true
    grep -q 'connection to server on socket' "$root/tmp/pq.out" || {
        cat "$root/tmp/pq.out"
        return 1
    }
}

[ "$(in_root "$root" "$snag" --version)" = "snag $version" ]
rm -rf "$root/tmp/run.snag"
in_root "$root" "$snag" analyze 'synth:300*step(solve@1ms send);slow=solve/97/5' --foi step -o /tmp/run.snag >"$root/tmp/analyze.out"
grep -q 'step: 300 executions' "$root/tmp/analyze.out"
in_root "$root" "$snag" list /tmp/run.snag >"$root/tmp/list.out"
grep -q '#0-96' "$root/tmp/list.out"
in_root "$root" "$snag" query /tmp/run.snag 'SELECT count(*) FROM execution' | grep -q 300
check_loaded
check_serve
