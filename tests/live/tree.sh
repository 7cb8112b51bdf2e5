#!/usr/bin/env bash
# A tree of parameter servers, as processes: three levels know what one server would, whoever of
# them dies on the way.
#
#   tree.sh SNAG LIVE_COMPARE
set -eu
snag=$1 compare=$2
unset ${!SNAG_*}
work=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"

trace='synth:500*step(compute@1ms(a 3*b) c@200us(a));ranks=8;jitter=0.1;slow=c/100/30/1;slow=b/300/20/2'
declare -A address server

# begin NAME ARGS...: a server with a snapshot of that name; at the address it had, if it had one.
begin() {
    local name=$1 at=()
    shift
    [ -z "${address[$name]:-}" ] || at=(--listen "${address[$name]}")
    rm -f "$name.said"
    "$snag" ps --snapshot "$name.ps" --interval 0.02 "${at[@]}" "$@" >"$name.said" 2>"$name.err" &
    server[$name]=$!
    pids+=($!)
    until [ -s "$name.said" ]; do sleep 0.01; done
    address[$name]=$(head -n 1 "$name.said")
}

end() {
    kill -TERM "${server[$1]}"
    wait "${server[$1]}"
}

die() {
    kill -9 "${server[$1]}"
    wait "${server[$1]}" 2>/dev/null || true
}

# below NAME UPPER: (again) below another.
below() { begin "$1" --upstream "${address[$2]}"; }

# instances LEAVES AD-ARGS...: an instance for each of eight ranks, dealt to the leaves.
instances() {
    local leaves=($1) rank
    shift
    running=()
    for rank in 0 1 2 3 4 5 6 7; do
        "$snag" ad "$trace" --step 0.05 --rank $rank --ps "${address[${leaves[rank % ${#leaves[@]}]}]}" \
            --json "$@" >"ad$rank.json" 2>"ad$rank.err" &
        running+=($!)
        pids+=($!)
    done
}

finish() {
    local i
    for i in "${running[@]}"; do wait "$i" || { cat ad*.err ad*.json; return 1; }; done
}

# warm: all servers that instances talk to have the models, which none of them has to wait for.
warm() {
    local leaf
    for leaf in $1; do
        "$snag" ad 'synth:20*step(compute@1ms(a 3*b) c@200us(a))' --ps "${address[$leaf]}" >/dev/null
    done
}

# tree [ARGS...]: top, two below it, four below these; ARGS for the top.
tree() {
    address=()
    rm -f {top,mid0,mid1,leaf0,leaf1,leaf2,leaf3}.ps
    begin top "$@"
    below mid0 top
    below mid1 top
    below leaf0 mid0
    below leaf1 mid0
    below leaf2 mid1
    below leaf3 mid1
}

end_tree() { # from below, so that each has heard everything when it says its last words
    local name
    for name in leaf0 leaf1 leaf2 leaf3 mid0 mid1 top; do end $name; done
}

echo '# one server'
begin flat
instances flat
finish
end flat

echo '# three levels'
tree
instances 'leaf0 leaf1 leaf2 leaf3'
finish
end_tree
"$compare" models flat.ps top.ps
[ "$(tail -n 1 top.said | grep -o 'of [0-9]* clients')" = 'of 2 clients' ]

echo '# frozen: verdicts and statistics, too'
cp flat.ps known.ps
rm flat.ps
address=()
begin flat --load known.ps --frozen
warm 'flat flat flat flat'
instances flat
finish
end flat
tree --load known.ps --frozen
warm 'leaf0 leaf1 leaf2 leaf3'
instances 'leaf0 leaf1 leaf2 leaf3'
finish
end_tree
"$compare" ranks flat.ps top.ps

echo '# each dies once while they speak, and goes on'
rm -f flat.ps
address=()
begin flat
instances flat
finish
end flat
tree
instances 'leaf0 leaf1 leaf2 leaf3' --speed 0.3 --verbose
for rank in 0 1 2 3 4 5 6 7; do
    until grep -q 'the parameter server has answered' "ad$rank.err"; do sleep 0.01; done
done
die leaf0
below leaf0 mid0
die mid1
die leaf2
below mid1 top
below leaf2 mid1
die top
begin top
die leaf3
die mid0
sleep 0.1 # nobody there for a while
below mid0 top
below leaf3 mid1
finish
end_tree
"$compare" models flat.ps top.ps

echo '# the one at the top is gone and has forgotten everything: it is told again'
address=()
rm -f {top,mid0,leaf0,one}.ps
begin one
instances one
finish
end one
begin top
below mid0 top
below leaf0 mid0
instances leaf0
finish
die top
rm top.ps
begin top
instances leaf0 # as much again, by others
finish
end leaf0
end mid0
end top
begin one
instances one
finish
end one
"$compare" models one.ps top.ps

echo '# what the server above has not taken is in the snapshot, and said later'
address=()
rm -f {top,leaf0}.ps
begin top
below leaf0 top
die top
instances leaf0
finish
end leaf0
cat leaf0.err
begin top
below leaf0 top
instances leaf0
finish
end leaf0
end top
"$compare" models one.ps top.ps

echo '# what cannot be'
for args in '' '--snapshot a.ps --frozen' '--snapshot a.ps --load flat.ps' '--snapshot a.ps --deterministic 2'; do
    status=0
    "$snag" ps --upstream tcp://127.0.0.1:9 $args 2>err || status=$?
    [ $status -eq 2 ] || { cat err; exit 1; }
    cat err
done
status=0
"$snag" ps --upstream tcp://127.0.0.1:9 --snapshot flat.ps 2>err || status=$?
[ $status -ne 0 ]
cat err
status=0
"$snag" ps --snapshot leaf0.ps 2>err || status=$?
[ $status -ne 0 ]
cat err
