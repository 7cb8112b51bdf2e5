#!/usr/bin/env bash
# The same communication in C and in Fortran by mpif.h, by "use mpi" and by "use mpi_f08", with
# each MPI that is installed: what is recorded is the same, event by event.
#
#   languages.sh SNAG DIRECTORY-OF-THE-TRACERS
snag=$1 tracers=$2
. "$(dirname "$0")/mpi/lib.sh"
export SNAG_TRACER_STRUCTURE=mpi # functions have other names in each language

for tool in otf2-print gfortran jq; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done

# compile MPI VARIANT -- mpich's header itself is not without warnings, nor are its interfaces of
# mpif.h without types that differ
compile() {
    if [ "$2" = c ]; then
        mpicc."$1" -w -o "$2.$1" "$sources/talk.c"
    else
        mpif90."$1" -w -fallow-argument-mismatch -D"$2" -o "$2.$1" "$sources/talk.F90"
    fi
}

# Every event but its time, rank after rank, without the numbers of definitions.
events() {
    otf2-print "$1/traces.otf2" 2>complaints | grep -E '^(ENTER|LEAVE|[A-Z]*MPI|[A-Z]*RMA|NON|IO)' |
        sed -E 's/^([A-Z0-9_]+) +([0-9]+) +[0-9]+ */\2 \1 /; s/ <[0-9]+>//g' | sort -s -n -k1,1
}

for mpi in "${mpis[@]}"; do
    variants=(c MPIF_H USE_MPI USE_F08)
    [ $mpi = ${mpis[0]} ] || [ -n "${SNAG_LONG:-}" ] || variants=(USE_F08) # of another MPI
    for variant in ${variants[@]}; do
        compile $mpi $variant
        record 0 $variant.$mpi.trace $mpi 3 ./$variant.$mpi
        events $variant.$mpi.trace >$variant.$mpi.events
        [ ! -s complaints ] || fail "otf2-print complains: $(cat complaints)"
        [ -e first ] || cp $variant.$mpi.events first
        diff first $variant.$mpi.events >differences ||
            fail "$variant with $mpi is not what ${mpis[0]} and C are: $(head -n 20 differences)"
    done
done
# every function of the table is called, but those that MPI 4 brought or that start other programs
for call in $(awk '/^calls/ { for (i = 2; $i != ":"; i++) print $i }' "$sources/../../../tracer/mpi_calls.table"); do
    case $call in
    Isendrecv* | Comm_spawn* | Comm_accept | Comm_connect | Comm_join | Win_allocate* | Init_thread | Abort) ;;
    *) grep -q "ENTER Region: \"MPI_$call\"" first || fail "MPI_$call is not in the traces" ;;
    esac
done
# what was received is what was sent
for kind in SEND ISEND RECV IRECV; do
    grep -o "MPI_$kind .*" first | grep -o 'Tag: .*, Length: [0-9]*' >$kind || true
done
[ "$(sort SEND ISEND | md5sum)" = "$(sort RECV IRECV | md5sum)" ] || fail "what was sent is not what was received"
# what all send in a collective, all receive
grep -E ' (MPI_COLLECTIVE_END|NON_BLOCKING_COLLECTIVE_COMPLETE) ' first |
    sed -E 's/.*Operation: ([A-Z_]*).*Sent: ([0-9]*), Received: ([0-9]*).*/\1 \2 \3/' |
    awk '{ sent[$1] += $2; received[$1] += $3 }
        END { for (op in sent) if (sent[op] != received[op]) print op, sent[op], received[op] }' >differ
[ ! -s differ ] || fail "bytes sent and received in collectives: $(cat differ)"
# what is put and got is complete once at the origin
matching() {
    grep -E "^[0-9]+ RMA_($1) " first | sed -E 's/^([0-9]+) .*Window: ("[^"]*").*Matching: /\1 \2 /' | sort
}
[ "$(matching 'PUT|GET|ATOMIC' | wc -l)" = 33 ] || fail "not all transfers are recorded"
[ "$(matching 'PUT|GET|ATOMIC')" = "$(matching OP_COMPLETE_NON_BLOCKING)" ] ||
    fail "what is transferred is not what is complete"
# so is what is read and written
of_file() {
    grep -E "^[0-9]+ IO_OPERATION_$1 " first | sed -E 's/^([0-9]+) .*Handle: ("[^"]*").*Matching Id: /\1 \2 /' | sort
}
[ "$(of_file BEGIN | wc -l)" = 93 ] || fail "not all of what is done with files is recorded"
[ "$(of_file BEGIN)" = "$(of_file COMPLETE)" ] || fail "what is begun with files is not complete"
# and all of it is read
"$snag" info c.${mpis[0]}.trace --json >info || fail "the trace is not whole"
[ "$(jq -c '[.transfers, .transferred_bytes, .file_operations, .file_bytes]' info)" = '[33,312,93,720]' ] ||
    fail "snag info counts something else: $(jq -c '[.transfers, .transferred_bytes, .file_operations, .file_bytes]' info)"
echo "${mpis[*]}: $(grep -c . first) events each, four times"
