# What the rows of the benchmark share. To be sourced, with BUILD and WORK set.
#
#   BUILD  build directory, with snag in it and bench/ below it
#   WORK   where generated inputs stay and results of runs go

snag=$BUILD/snag
tools=$BUILD/bench
repetitions=${BENCH_REPETITIONS:-7}
say() { printf 'bench: %s\n' "$*" >&2; }

# The directory of a trace of the test data, unpacked below WORK when it is not yet; fails when
# the data is not there, or when it is too much for a test (BENCH_TINY).
data() {
    local name=$1 packed
    [ -z "${BENCH_TINY:-}" ] || return 1
    packed=${SNAG_DATA:-$source/../shared/data}/$name.tar.zst
    if [ ! -d "$WORK/$name" ]; then
        [ -r "$packed" ] && command -v zstd >/dev/null || return 1
        zstd -q -d -c "$packed" | tar -x -C "$WORK"
    fi
    printf '%s\n' "$WORK/$name"
}

# generated EVENTS: the directory of an archive of so many events of 8 ranks.
generated() {
    local trace=$WORK/generated-$1
    if [ ! -r "$trace/traces.otf2" ]; then
        say "generating $1 events"
        rm -rf "$trace" "$trace.part"
        "$tools/generate" "$1" "$trace.part" >&2
        mv "$trace.part" "$trace"
    fi
    printf '%s\n' "$trace"
}

# field NAME: the number behind the word NAME on standard input.
field() { awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) value = $(i + 1) }
    END { print value }'; }

# member NAME: a number of the JSON object on standard input.
member() { sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p"; }

# peer MODULE: the distribution's Python has it; says so when not.
python=/usr/bin/python3
peer() {
    "$python" -c "import $1" 2>/dev/null && return
    printf '\nskipped: no %s for %s (%s), so there is nothing to compare with\n' "$1" "$python" "$2"
    return 1
}

# Where the distribution keeps the reference BLAS, which Python uses where no other is installed.
reference_blas() { dirname "$(ls /usr/lib/*/blas/libblas.so.3 2>/dev/null | head -n 1)" 2>/dev/null; }

# Of the numbers in a file, one a line.
smallest() { sort -g "$1" | head -n 1; }
median() { sort -g "$1" | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

# calc 'a / b' FORMAT
calc() { awk "BEGIN { printf \"${2:-%.2f}\", $1 }"; }

# met VALUE LIMIT: "yes", or by how much it is missed.
met() { awk -v v="$1" -v l="$2" 'BEGIN { if (v <= l) print "yes"
    else printf "no, %.0f %% over\n", 100 * (v / l - 1) }'; }

# The floor of what reads an archive: times of a program that only reads it, beside those of snag, in
# files of $times: wall0 and cpu0, and a pair for each line.
#
# floor_run TRACE: once; $records is what it read.
floor_run() {
    "$tools/otf2_floor" "$1/traces.otf2" >"$times/log"
    field wall_s <"$times/log" >>"$times/wall0"
    field cpu_s <"$times/log" >>"$times/cpu0"
    records=$(field records <"$times/log")
}

# floor_head: the table's, with the floor's own line.
floor_head() {
    echo '| | wall, least | median | processor, least | wall / floor | of medians | processor / floor | target | met |'
    echo '|---|---|---|---|---|---|---|---|---|'
    floor_line 'floor: libotf2, empty callbacks' wall0 cpu0 -
}

# floor_line WHAT WALL CPU TARGET: one line.
floor_line() {
    local what=$1 wall=$2 cpu=$3 limit=$4 ratio
    ratio=$(calc "$(smallest "$times/$wall") / $(smallest "$times/wall0")")
    printf '| %s | %s ms | %s ms | %s ms | %s | %s | %s | %s | %s |\n' "$what" \
        "$(calc "1e3 * $(smallest "$times/$wall")" %.1f)" \
        "$(calc "1e3 * $(median "$times/$wall")" %.1f)" \
        "$(calc "1e3 * $(smallest "$times/$cpu")" %.1f)" "$ratio" \
        "$(calc "$(median "$times/$wall") / $(median "$times/wall0")")" \
        "$(calc "$(smallest "$times/$cpu") / $(smallest "$times/cpu0")")" \
        "$limit" "$([ "$limit" = - ] && echo - || met "$ratio" "$limit")"
}
