#!/usr/bin/env bash
# A program does not notice what goes wrong in the tracer: its output and its exit status are those
# that it has alone, whichever call of the tracer's fails (inject.c), once, a few times or from then
# on. And what is recorded, with what is said to be lost, is all that there was; or it is said that
# there is nothing.
#
#   inject.sh SNAG DIRECTORY-OF-THE-TRACERS
#
# SNAG_INJECTIONS  how many, 18; SNAG_INJECTION_FIRST begins with another one than 0. Each is the
# same every time. Prints a table of what was tried, per tracer.
snag=$1 tracers=$2 n=${SNAG_INJECTIONS:-18} first=${SNAG_INJECTION_FIRST:-0}
. "$(dirname "$0")/mpi/lib.sh" || exit
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
here=$sources/..
cc -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC -o inject.so "$here/inject.c" -ldl
export INJECT_PROGRAM=notices

# ------------------------------------------------------------------------------ what is recorded

declare -A options=([serial]=--functions [sampled]='--sample 1000Hz')
declare -A launch=() calls_of=([sampled]=6000000) # ... of each thread
declare -A tracer=() ends=() # with what status, where no launcher ends the others for it
programs=(serial sampled)
for mpi in "${mpis[@]}"; do
    programs+=($mpi $mpi-stacks)
    options[$mpi]=--functions options[$mpi-stacks]=--stacks
    launch[$mpi]="mpirun.$mpi -n 2" launch[$mpi-stacks]="mpirun.$mpi -n 2"
    ends[$mpi]=0 ends[$mpi-stacks]=0 tracer[$mpi]=$mpi tracer[$mpi-stacks]=$mpi
done

build() {
    local flags='-O1 -g -pthread' compiler=cc

    case $1 in *mpi*) compiler=mpicc.${1%-stacks} flags+=' -DWITH_MPI' ;; esac
    case $1 in sampled | *-stacks) ;; *) flags+=' -finstrument-functions' ;; esac
    mkdir $1
    $compiler $flags -o $1/notices "$here/notices.c" -lm
}

# run NAME COMMAND... -- in its directory: the program's status, and its output in the order of the
# lines, as ranks may come in any. $status is that of the command.
run() {
    local name=$1
    shift
    rm -f $name/status
    status=0
    (cd $name && timeout 120 "$@" sh -c '"$@"; s=$?; echo status $s >status; exit $s' sh ${launch[$name]-} \
        ./notices ${ends[$name]-5} ${calls_of[$name]-} </dev/null >out 2>err) || status=$?
    cat $name/status >$name/seen
    sort $name/out >>$name/seen
}

record() {
    rm -rf $1/trace
    LD_PRELOAD=$dir/inject.so run $1 "$snag" record -o trace --tracer ${tracer[$1]-serial} ${options[$1]} --
}

# What the trace has of the program's calls, and is said to be lost: "" if there is no trace.
calls() {
    "$snag" info $1/trace --json 2>/dev/null | jq -r \
        '[.regions[] | select(.name | startswith("BUFFER_FLUSH") | not).calls] + [.quality.lost_call // 0] | add'
}

declare -A alone whole
for name in "${programs[@]}"; do
    build $name
    run $name
    cp $name/seen $name/alone
    INJECT_COUNT=$dir/$name/count record $name
    cmp -s $name/seen $name/alone || fail "$name: under the tracer it does something else: $(diff $name/alone $name/seen)"
    whole[$name]=$(calls $name)
    # the functions that were called, and how often at most in a process
    awk '$2 > most[$1] { most[$1] = $2 } END { for (i in most) if (most[i]) print i, most[i] }' $name/count | sort >$name/called
done

# --------------------------------------------------------------------------------- what goes wrong

draw() { # $drawn: a number below the first argument
    seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
    drawn=$(((seed >> 8) % $1))
}

pick() { # $picked: one of the arguments
    draw $#
    shift $drawn
    picked=$1
}

pick_error() {
    case $1 in
    any) pick 1 12 38 24 5 ;; # EPERM, ENOMEM, ENOSYS, EMFILE, EIO
    write | pwrite | send) pick 28 122 5 27 0 ;; # ENOSPC, EDQUOT, EIO, EFBIG, a part
    close | rename | ftruncate | fallocate) pick 28 122 5 27 95 ;; # ..., EOPNOTSUPP
    open | fopen | mkdir) pick 24 23 28 30 13 2 0 ;; # EMFILE, ENFILE, ENOSPC, EROFS, EACCES, ENOENT, EINTR
    malloc | calloc | realloc | reallocarray | strdup | mmap | pthread_*) picked=12 ;;
    *) pick 1 38 5 12 0 ;;
    esac
}

# injection NUMBER -- which program, and what fails in it: sets name, rank and what.
injection() {
    local function most at

    seed=$(($1 * 7919 + 17))
    draw 2
    name=${programs[$1 % ${#programs[@]}]}
    draw 6
    if [ $drawn = 0 ]; then
        function=any most=$(awk '{ n += $2 } END { print n }' $name/called)
    else
        draw $(wc -l <$name/called)
        read -r function most < <(sed -n $((drawn + 1))p $name/called)
    fi
    draw $most
    at=$((drawn + 1))
    pick $at $((at + 3)) 999999
    what=$function:$at-$picked=
    pick_error $function
    what+=$picked
    pick '' 0 1
    rank=
    [[ $name != *mpi* ]] || rank=$picked
}

# outcome -- of what was recorded: whole, lost or nothing; wrong where what is said is not so.
outcome() {
    local n expected=${whole[$name]}

    if [[ ${options[$name]} != --functions ]]; then # how many functions are seen is not known
        # or whether any: the program may end before the first sample is looked up
        n=some expected=some
        "$snag" info $name/trace >/dev/null 2>&1 || [ $? = 3 ] || n=
    else
        n=$(calls $name)
    fi
    if grep -q '^snag: nothing was recorded: .* calls were lost' $name/err; then
        [ "$n" = "$expected" ] && echo nothing || echo wrong
    elif [ -z "$n" ]; then
        grep -q '^snag: nothing was recorded\|^snag-tracer: .*nothing' $name/err && echo nothing || echo wrong
    elif grep -q 'not all was recorded: a rank left nothing' $name/err; then
        echo lost # and nobody has counted
    elif grep -q 'calls were lost\|not all was recorded' $name/err; then
        [ "$n" = "$expected" ] && echo lost || echo wrong
    else
        [ "$n" = "$expected" ] && echo whole || echo wrong
    fi
}

for ((i = first; i < first + n; i++)); do
    injection $i
    INJECT=$what INJECT_RANK=$rank record $name
    difference=same
    cmp -s $name/seen $name/alone || difference=DIFFERS
    result=$(outcome)
    # snag record has the program's status, but for a program that is content and has no trace
    want=${ends[$name]-5}
    [ $want$result != 0nothing ] || want=1
    [ $status = $want ] || result=wrong
    echo "$name $what $difference $result" >>all
    [ $difference = same ] && [ $result != wrong ] && continue
    echo "$i: $name, ${rank:+rank $rank, }$what: $difference, $result ($(calls $name) of ${whole[$name]})"
    diff $name/alone $name/seen | head -5
    cat $name/err
done

# A disk that really is full: writing to a page of a file that has none there ends a program.
full() {
    name=$1
    rm -rf $1/trace
    run $1 unshare -rm sh -c 'mkdir -p small && mount -t tmpfs -o size=$0 none small || exit
        "$@"; s=$?; cp -r small/trace . ; exit $s' $2 \
        "$snag" record -o small/trace --tracer ${tracer[$1]-serial} ${options[$1]} --
    result=$(outcome)
    cmp -s $1/seen $1/alone && [ $status = ${ends[$1]-5} ] && [ $result = lost ] && grep -q ' disk full .*; .* of events are kept' $1/err ||
        fail "$1 on a disk of $2: $result, status $status: $(diff $1/alone $1/seen; cat $1/err)"
}

if unshare -rm sh -c 'mount -t tmpfs none /mnt' 2>/dev/null; then
    for name in serial "${mpis[@]}"; do
        for size in 900k 1m 1200k; do full $name $size; done
        echo "$name: as alone on a disk that is full"
    done
fi

awk '{
    split($2, of, ":"); n[$1]++; differs[$1] += $3 != "same"; how[$1, $4]++
    if (index(of[1], "alloc") || of[1] == "strdup" || of[1] == "mmap") kind = "memory"
    else if (of[1] ~ /^(open|close|write|pwrite|fallocate|ftruncate|mkdir|rename|unlink)$/) kind = "files"
    else kind = "other"
    kinds[$1, kind]++
} END {
    print "tracer            tried  files  memory  other  differ  whole  lost said  nothing said  wrong"
    for (i in n)
        printf "%-16s %6d %6d %7d %6d %7d %6d %10d %13d %6d\n", i, n[i], kinds[i, "files"],
            kinds[i, "memory"], kinds[i, "other"], differs[i], how[i, "whole"], how[i, "lost"],
            how[i, "nothing"], how[i, "wrong"]
}' all
! grep -q 'DIFFERS\|wrong$' all || { echo "the program noticed, or what is said is not so"; exit 1; }
