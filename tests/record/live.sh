#!/usr/bin/env bash
# A program with one-sided communication and files: what a reader is told while it runs is what the
# archive of the same run holds.
#
#   live.sh SNAG DIRECTORY-OF-THE-TRACERS STREAM_COUNTS
snag=$1 tracers=$2 stream_counts=$3
. "$(dirname "$0")/mpi/lib.sh"
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
reader=
trap 'kill $reader 2>/dev/null || true; wait; rm -rf "$dir"' EXIT

# told MPI TRACE READER... -- what the reader says of the program goes to told
told() {
    local mpi=$1 trace=$2
    "${@:3}" "tracer:$dir/socket" >told 2>told.err &
    reader=$!
    until [ -S socket ]; do
        kill -0 $reader || fail "the reader has ended: $(cat told.err)"
        sleep 0.02
    done
    SNAG_TRACER_LIVE=$dir/socket record 0 "$trace" "$mpi" 3 ./talk."$mpi"
    wait $reader || fail "the reader failed: $(cat told.err)"
    reader=
    "$snag" info "$trace" --json >info
}

for mpi in "${mpis[@]}"; do
    mpicc.$mpi -w -o talk.$mpi "$sources/talk.c"
    told $mpi counted.$mpi "$stream_counts"
    jq -r '"sent \(.sends)", "received \(.recvs)", "collectives \(.collectives)", "estimates \(.estimated.n)",
        "transfers \(.transfers) \(.transferred_bytes)", "operations \(.file_operations) \(.file_bytes)",
        (.regions[] | select(.kind != "tracer") | "calls \(.name) \(.calls)")' info | sort >want
    grep -E '^(sent|received|collectives|estimates|transfers|operations|calls) ' told | grep -v '^calls .* 0$' |
        sort >got
    diff want got || fail "$mpi: the archive and the stream differ"
    grep -qx 'lost 0' told || fail "$mpi: events are lost"

    told $mpi judged.$mpi "$snag" ad --json
    [ "$(jq .calls told)" = "$(jq '[.regions[] | select(.kind != "tracer").calls] | add' info)" ] || fail "$mpi: $(jq .calls told) calls"
    for what in transfers transferred_bytes file_operations file_bytes; do
        [ "$(jq ".$what" told)" = "$(jq ".$what" info)" ] || fail "$mpi: $what: $(jq -c . told)"
    done
    jq -e '.transfers == 33 and .transferred_bytes > 0 and .file_operations > 60 and .file_bytes > 0' told >/dev/null ||
        fail "$mpi: $(jq -c . told)"
done
echo "${mpis[*]}: what is told live is what is recorded, with windows and files"
