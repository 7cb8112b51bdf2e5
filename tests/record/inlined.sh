#!/usr/bin/env bash
# Functions that were inlined are callers of MPI by debug information, each as often as it was
# called where the code tells that, in C, C++ and Fortran; without debug information there are none.
#
#   inlined.sh SNAG DIRECTORY MD DIRECTORY-OF-MD
set -eu
snag=$1 source=$2 md=$3 of_md=$4 launcher=
. "$(dirname "$0")/../support/own_directory.sh"

fail() {
    echo "$*"
    cat said calls 2>/dev/null
    exit 1
}

# run PROGRAM TRACE [ARGUMENT...] -- what it prints goes to said, the calls to calls
run() {
    timeout 100 "$snag" record --quiet -o "$2" -- ${launcher:+$launcher -n 2} "$(realpath "$1")" "${@:3}" >said 2>err || fail "$1 ends with $?: $(cat err)"
    otf2-print -Werror --silent "$2/traces.otf2" >out 2>&1 || fail "$2 cannot be read: $(cat out)"
    "$snag" info "$2" --json --all >info
    jq -r '.regions[] | "\(.name) \(.calls)"' info >calls
}

# every line of two words that the program says is there
compare() {
    local line
    while read -r line; do
        grep -qxF "$line" calls || fail "$1: not '$line'"
    done < <(awk 'NF == 2 || /[()]/' said)
}

for tool in jq otf2-print gcc; do
    command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done
cc=$(command -v mpicc.openmpi mpicc | head -n 1) cxx=$(command -v mpicxx.openmpi mpicxx | head -n 1)
fortran=$(command -v mpifort.openmpi mpifort | head -n 1 || true)
[ -n "$cc" ] && [ -n "$cxx" ] || { echo "there is no MPI"; exit 77; }

for level in -O1 -O2; do
    "$cc" $level -g -o c "$source/inlined_calls.c"
    run c c$level.trace
    compare "C $level"
    # where it cannot be told, as many are said to be possible
    otf2-print c$level.trace/traces.otf2 | grep -A 1 '^LEAVE.*"unclear"' | grep -o '"snag.inlined" <[0-9]*>; UINT64; [0-9]*' |
        awk '{ most += $NF } END { exit !(most >= 10 && most <= 50) }' || fail "C $level: not as many calls of unclear"
    jq -e '.estimated | .joined >= 1 and .joined_most >= 10' info >/dev/null || fail "C $level: no calls that may be several"
    "$cxx" $level -g -DOMPI_SKIP_MPICXX -o cxx "$source/inlined_methods.cc"
    run cxx cxx$level.trace
    # with its scopes, though the linker has no name for it
    grep -q '^(anonymous namespace)::Halo::send[( ]' calls || fail "C++ $level: no Halo::send"
    sed -i 's/.*:://; s/<double>(double) const/<double>/; s/<int>(int) const/<int>/; s/() const//' said
    sed -i 's/.*:://; s/<double>(double) const/<double>/; s/<int>(int) const/<int>/; s/() const//' calls
    compare "C++ $level"
    [ -n "$fortran" ] || continue
    "$fortran" $level -g -o fortran "$source/inlined_procedures.f90" 2>err || { echo "no Fortran: $(cat err)"; fortran=; continue; }
    run fortran fortran$level.trace
    sed -i 's/.*:://' calls
    compare "Fortran $level"
done

# of a program with more of them as many as its hooks say, each function but those that call no MPI
launcher=${MPIEXEC:-$(command -v mpirun.openmpi || command -v mpirun)}
few='--particles 300 --steps 60 --write 20'
run "$md" hooks.trace $few
jq -r '.regions[] | select(.kind == "user") | "\(.name) \(.calls)"' info | sort >hooks
"$cc" -O2 -g -D_GNU_SOURCE -I"$of_md" -o md "$of_md"/*.c -lm
run md md.trace $few
jq -r '.regions[] | select(.kind == "user") | "\(.name) \(.calls)"' info | sort >found
grep -q '^step 120$' found || fail "md: not 120 steps"
join hooks found >both
[ "$(wc -l <both)" -ge 10 ] || fail "md: only $(cat found)"
awk '$2 != $3 { exit 1 }' both || fail "md: by hooks, and found: $(awk '$2 != $3' both)"
launcher=

# they have the line where they begin, and a filter has rules for them
otf2-print -G c-O2.trace/traces.otf2 >definitions
line=$(grep -n ' wait_halo(void)' "$source/inlined_calls.c" | head -n 1 | cut -d: -f1)
grep -q "Name: \"wait_halo\".*File: \"[^\"]*/inlined_calls.c\" <[0-9]*>, Begin: $line," definitions ||
    fail "wait_halo is not on line $line: $(grep wait_halo definitions)"
printf 'exclude *\ninclude send_halo\n' >rules
SNAG_TRACER_FILTER=$dir/rules run c filtered.trace
[ "$(grep -v "^BUFFER_FLUSH" calls)" = "send_halo 260" ] || fail "filtered: not 260 calls of send_halo alone"

# what calls a function that a filter leaves out is called as often as without, though that calls MPI more than once
printf 'exclude pair\nexclude two_pairs\nexclude talk\nexclude last\n' >rules
SNAG_TRACER_FILTER=$dir/rules run c left_out.trace
! grep -E '^(pair|two_pairs|talk|last) ' calls || fail "filtered: there is what was excluded"
sed -i -E '/^(pair|two_pairs|talk|last) /d' said
compare "C, filtered"

# samples find them, too, and each is as often called as without
timeout 100 "$snag" record --quiet -o sampled.trace --sample 1000Hz -- ./c long >said 2>err || fail "sampled: ends with $?"
"$snag" info sampled.trace --json --all | jq -r '.regions[] | "\(.name) \(.calls)"' >calls
grep -q '^compute [1-9]' calls || fail "sampled: no compute"
compare "C, sampled"

# without debug information it is as it was
strip -g c
run c stripped.trace
grep -qx 'step 100' calls || fail "stripped: no step"
! grep -E 'halo|exchange|sweep|around' calls || fail "stripped: there are inlined functions"
jq -e '.estimated.joined == 0' info >/dev/null || fail "stripped: calls that may be several"
echo "inlined functions: as often as called"
