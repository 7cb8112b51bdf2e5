#!/usr/bin/env bash
# Every call and every message of an archive as snag exports them, against what otf2-print, a
# reader of its own, prints of the events, here put together again in awk.
#
#   calls.sh SNAG SAMPLE_ARCHIVE
set -eu
snag=$1 sample_archive=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

if ! command -v otf2-print >/dev/null; then
    echo "otf2-print is not here (package otf2-tools)"
    exit 77
fi

mkdir trace
"$sample_archive" trace
"$snag" analyze trace/traces.otf2 --foi step -o run.snag --quiet >/dev/null
"$snag" export run.snag --what calls --format csv >got.csv
"$snag" export run.snag --what calls --format chrome >got.json
otf2-print trace/traces.otf2 >events.txt

# Calls: the columns of snag export, from the events of each location in order.
awk '
function quoted(name) {
    if (name !~ /[",]/)
        return name
    gsub(/"/, "\"\"", name)
    return "\"" name "\""
}
BEGIN {
    print "rank,thread,call,parent,depth,region,enter_ns,inclusive_ns,exclusive_ns"
    origin = 5000
    place["0"] = "0,0"
    place["4294967296"] = "1,0"
    place["4294967297"] = "1,1"
    place["8589934592"] = "2,0"
}
$1 == "ENTER" {
    name = $0
    sub(/^[^"]*"/, "", name)
    sub(/" <[0-9]+>$/, "", name)
    sub(/^_ZN5Atoms4sortEv$/, "Atoms::sort()", name)
    l = $2
    call = n[l]++
    region[l, call] = name
    enter[l, call] = $3
    depth[l, call] = height[l]++
    parent[l, call] = depth[l, call] ? stack[l, depth[l, call] - 1] : -1
    stack[l, depth[l, call]] = call
}
$1 == "LEAVE" {
    l = $2
    call = stack[l, --height[l]]
    inclusive[l, call] = $3 - enter[l, call]
    inside[l, parent[l, call]] += inclusive[l, call]
}
END {
    split("0 4294967296 4294967297 8589934592", order, " ")
    for (i = 1; i <= 4; i++)
        for (call = 0; call < n[l = order[i]]; call++)
            printf "%s,%d,%d,%d,%s,%d,%d,%d\n", place[l], call, parent[l, call],
                depth[l, call], quoted(region[l, call]), enter[l, call] - origin,
                inclusive[l, call], inclusive[l, call] - inside[l, call]
}' events.txt >want.csv

# Messages: "from to sent arrived", a queue for each (sender, receiver, tag). An Isend counts from
# its start, an Irecv to its completion; the receives of the archive complete in order.
awk '
function number_behind(word, rest) {
    rest = substr($0, index($0, word ": ") + length(word) + 2)
    return rest + 0
}
{ rank = int($2 / 4294967296) }
$1 == "MPI_SEND" || $1 == "MPI_ISEND" {
    key = rank " " number_behind("Receiver") " " number_behind("Tag")
    sent[key, n_sent[key]++] = $3 - 5000
}
$1 == "MPI_RECV" || $1 == "MPI_IRECV" {
    key = number_behind("Sender") " " rank " " number_behind("Tag")
    arrived[key, n_arrived[key]++] = $3 - 5000
}
END {
    for (key in n_arrived)
        for (i = 0; i < n_arrived[key]; i++) {
            split(key, part, " ")
            print part[1], part[2], sent[key, i], arrived[key, i]
        }
}' events.txt | sort >want.messages
sed -n 's/^{"ph":"\([sf]\)","pid":\([0-9]*\),.*"ts":\([0-9]*\)\.\([0-9]*\),"id":\([0-9]*\),.*/\1 \2 \3\4 \5/p' \
    got.json | awk '
$1 == "s" { from[$4] = $2; sent[$4] = $3 + 0 }
$1 == "f" { to[$4] = $2; arrived[$4] = $3 + 0 }
END { for (id in to) print from[id], to[id], sent[id], arrived[id] }' | sort >got.messages

echo "$(($(wc -l <want.csv) - 1)) calls, $(wc -l <want.messages) messages"
[ "$(wc -l <want.csv)" -gt 900 ]
[ "$(wc -l <want.messages)" -eq 120 ]
diff want.csv got.csv
diff want.messages got.messages
