#!/usr/bin/env bash
# What runs on each node of a job beside the program, as the job's user:
#
#     one node, the first to begin         every node
#     snag ps  <--- what was learnt ---    snag ad  <--- tracer:SOCKET ---  the ranks here
#                                             |
#                                             +---> NODE.store, kept in the job's directory at the end
#
#   snag-node.sh run     until there is SNAG_JOB_DIR/over, or SIGTERM: then the detector ends, the
#                        store is kept, the server ends
#   snag-node.sh socket  where the ranks of this node find the detector
#   snag-node.sh wait    until the detectors of all nodes listen
#
# Two directories: SNAG_JOB_DIR, which all nodes see, has what stays: stores, totals, logs. One below
# SNAG_NODE_TMP (/tmp), of this node alone, has the socket and the store while it is written, as
# SQLite's files cannot be written on a network file system. SNAG is the program, SNAG_AD_OPTIONS and
# SNAG_PS_OPTIONS are what to add to its command lines.
set -u

: "${SLURM_JOB_ID:?this runs in a job of Slurm}"
snag=${SNAG:-snag}
node=${SLURMD_NODENAME:-$(hostname -s)}
here=${SNAG_NODE_TMP:-/tmp}/snag-$SLURM_JOB_ID-$node

[ "${1:-}" != socket ] || {
    echo "$here/socket"
    exit 0
}
shared=${SNAG_JOB_DIR:?the directory of the job}
WAIT_S=${SNAG_NODE_WAIT:-60} # for other nodes, at the begin and at the end
GRACE_S=5                    # for a detector to have read all

say() { echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $node: $*" >&2; }

# until_there FILE...
until_there() {
    local file since=$SECONDS
    for file; do
        until [ -e "$file" ]; do
            # a detector that is done already never came to listen
            if [ $((SECONDS - since)) -ge "$WAIT_S" ] || [ -e "${file/listens./done.}" ]; then
                say "$file did not come"
                return 1
            fi
            sleep 0.2
        done
    done
}

[ "${1:-}" != wait ] || {
    mapfile -t names < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
    until_there "${names[@]/#/$shared/listens.}"
    exit
}
[ "${1:-}" = run ] || {
    sed -n '2,/^set -u/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
}

is_over=
detector=
server=
told= # the detector that was asked to end: the second time would kill it
trap 'is_over=${is_over:-$SECONDS}' TERM INT HUP

mkdir -p "$shared" && mkdir -p -m 700 "$here" && [ -O "$here" ] || exit 1
begin_server() {
    # shellcheck disable=SC2086
    "$snag" ps --listen 'tcp://*:*' --curve-key "$shared/job.key" --snapshot "$here/models.ps" \
        --run-id "$SLURM_JOB_ID" ${SNAG_PS_OPTIONS:-} >"$here/ps" 2>>"$shared/ps.log" &
    server=$!
    until [ -s "$here/ps" ]; do
        kill -0 "$server" 2>/dev/null || return 1
        sleep 0.05
    done
    sed "s|//0\.0\.0\.0:|//${SNAG_PS_HOST:-$(hostname)}:|; q" "$here/ps" >"$here/address"
    mv "$here/address" "$shared/address"
}

# One detector after the other: each ends with the program it has watched.
detect() {
    local ps=()
    until_there "$shared/address" && [ -s "$shared/address" ] && ps=(--ps "$(cat "$shared/address")" --curve-key "$shared/job.key")
    while [ -z "$is_over" ]; do
        # shellcheck disable=SC2086
        "$snag" ad "tracer:$here/socket" --connect-timeout 1000000 --store "$here/store" "${ps[@]}" \
            --run-id "$SLURM_JOB_ID" --json ${SNAG_AD_OPTIONS:-} >>"$shared/$node.json" 2>>"$shared/$node.log" &
        detector=$!
        until [ -e "$here/socket" ] || ! kill -0 "$detector" 2>/dev/null; do sleep 0.05; done
        : >"$shared/listens.$node"
        while kill -0 "$detector" 2>/dev/null; do
            [ ! -e "$shared/over" ] || is_over=${is_over:-$SECONDS}
            # One whose program has just ended is about to end, too; the next one never would.
            if [ -n "$is_over" ] && [ $((SECONDS - is_over)) -ge "$GRACE_S" ] && [ "$told" != "$detector" ]; then
                kill -TERM "$detector"
                told=$detector
            fi
            sleep 0.5 &
            wait -n "$detector" $! 2>/dev/null # a signal ends it, too
        done
        wait "$detector"
        case $? in
        0 | 3) ;;
        *) [ -n "$is_over" ] || { say "snag ad has failed: $(tail -n 1 "$shared/$node.log")"; break; } ;;
        esac
    done
}

keep_store() {
    [ -e "$here/store/shard-0000.db" ] || return 0 # nothing was watched
    "$snag" provdb backup "$here/store" "$shared/$node.store" >>"$shared/$node.log" 2>&1 ||
        {
            say "the store stays in $here/store: $(tail -n 1 "$shared/$node.log")"
            return 1
        }
}

# The server ends last: until then others may have something to tell it.
end_server() {
    [ -n "$server" ] || return 0
    local names=("$shared"/node.*)
    until_there "${names[@]/#"$shared/node."/"$shared/done."}"
    kill -TERM "$server" 2>/dev/null
    wait "$server"
    tail -n 1 "$here/ps" >>"$shared/ps.log"
    rm -rf "$shared/address" "$shared/server" "$shared"/node.* "$shared"/done.*
}

say "detector and store in $here, what stays in $shared"
# A prolog is not told the nodes of its job: whoever makes the directory has the server.
: >"$shared/node.$node"
if mkdir "$shared/server" 2>/dev/null; then
    begin_server || {
        say "no parameter server: $(tail -n 1 "$shared/ps.log")"
        server=
        : >"$shared/address" # nobody waits for it
    }
fi
detect
keep_store && is_kept=1
: >"$shared/done.$node"
end_server
rm -f "$shared/listens.$node"
[ -z "${is_kept:-}" ] || rm -rf "$here"
