#!/usr/bin/env bash
# The first run: `./setup.sh demo` in systems that have git and bash and nothing else. Debian 12 and 13, each made by
# debootstrap. As root; some minutes each on two processors.
#
#   tests/dist/first_run.sh [SUITE...]
#
# Says of each what was installed for it, and the processor time of each part. DEMO_SERVE=1 takes the page in (and npm with
# it), until it is served. SNAG_ROOTS and DEBIAN_MIRROR are as in roots.sh; lists of the packages, before and
# after, stay in SNAG_ROOTS. Ends with 1 where a demo fails, or asks for more than a third of what the first demo of all
# installed (2.6 GB).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$here/base_root.sh"
suites=("$@")
[ $# -gt 0 ] || suites=(bookworm trixie)
most_kib=$((2600000000 / 3 / 1024))

# Commands of which setup.sh and the demo are told the processor time: in front of the true ones on PATH.
timed='apt-get cmake mpirun'

make_root() {
    local suite=$1 root=$roots/first-$1 command
    fresh_root "$suite" "$root" || return 1
    quietly as_root "$root" bash -ec 'apt-get -qq update
        apt-get -qq -y --no-install-recommends install git ca-certificates' || return 1
    for command in $timed; do
        printf '#!/bin/bash\nTIMEFORMAT="%s %%U %%S"\n{ time /usr/bin/%s "$@" 2>&3 3>&-; } 3>&2 2>>/tmp/times\n' \
            $command $command >"$root/usr/local/bin/$command"
        chmod 755 "$root/usr/local/bin/$command"
    done
    quietly git clone -q --no-local "$source" "$root/src"
}

packages_of() { as_root "$1" dpkg-query -W -f '${Package} ${Installed-Size}\n' | sort; }

# spent PART: seconds of processor time of one of the timed commands.
spent() { awk -v part="$2" '$1 == part { s += $2 + $3 } END { printf "%.1f", s }' "$1/tmp/times"; }

first_run() {
    local suite=$1 root=$roots/first-$1 all n_new kib status=0
    packages_of "$root" >"$roots/$suite.before"
    : >"$root/tmp/times"
    { time as_root "$root" env "DEMO_SERVE=${DEMO_SERVE:-0}" bash -c '
        cd /src
        if [ "$DEMO_SERVE" = 0 ]; then exec ./setup.sh demo; fi
        ./setup.sh demo &
        until grep -q http:// /tmp/demo.log || ! kill -0 $!; do sleep 1; done
        kill $!
        wait $! || true' >"$root/tmp/demo.log" 2>&1; } 2>"$root/tmp/all" || status=1
    packages_of "$root" >"$roots/$suite.after"
    read -r n_new kib < <(comm -13 "$roots/$suite.before" "$roots/$suite.after" | awk '{ n++; k += $2 } END { print n + 0, k + 0 }')
    all=$(awk '/^(user|sys)/ { split($2, t, /[ms]/); s += 60 * t[1] + t[2] } END { printf "%.1f", s }' "$root/tmp/all")
    [ $status = 0 ] && grep -q 'disturbances are among the first' "$root/tmp/demo.log" || {
        tail -n 30 "$root/tmp/demo.log"
        return 1
    }
    say "$suite: $n_new packages, $((kib * 1024 / 1000000)) MB installed;" \
        "processor time $all s: packages $(spent "$root" apt-get) s, build $(spent "$root" cmake) s," \
        "the program $(spent "$root" mpirun) s; all in $(awk '/^real/ { print $2 }' "$root/tmp/all")"
    [ "$kib" -le $most_kib ] || {
        say "$suite: that is more than a third of what it was"
        return 1
    }
}

failed=0
for suite in "${suites[@]}"; do
    if ! make_root "$suite"; then
        say "$suite cannot be had here"
        failed=1
    elif ! first_run "$suite"; then
        say "$suite: FAILED"
        failed=1
    fi
done
exit $failed
