#!/usr/bin/env bash
# The front door: installs what is missing, builds, and runs.
#
#   ./setup.sh demo      build what the demo runs, trace a small MPI program under disturbances, find them, show them
#                        in a browser (DEMO_SERVE=0: not that, and no page is made)
#   ./setup.sh demo-live build, and watch the same program while it runs
#   ./setup.sh test      build in three ways (release, ASan+UBSan, TSan) and run the tests: 10 to 40 minutes on two
#                        processors
#   ./setup.sh test-long ... and all of them in all ways, with more of what is done at random: see CONTRIBUTING.md
#   ./setup.sh coverage  which lines and branches of src/ and tracer/ the tests of `test` reach: a quarter of an hour
#   ./setup.sh build     just build: build/release/snag, its tracers; tests where cmocka is
#   ./setup.sh truth [DIR]   programs that write down what went wrong, and what snag says of it: a scoreboard; a quarter of an hour
#   ./setup.sh bench     measure; results go to bench/RESULTS.md
#   ./setup.sh screenshots   what README.md shows of the demo, and its pictures, from the demo as it is
#   ./setup.sh gallery [DIR]   the page: every view of seven runs, in seven sizes, light and dark, to be looked at
#   ./setup.sh dist      one file that runs on any Linux, without root: build/dist/snag-VERSION-linux-x86_64.tar.xz
#   ./setup.sh install   install to PREFIX (default /usr/local)
#   ./setup.sh docs      the documentation as a site, with a search, that needs no network: build/docs/index.html
#   ./setup.sh wheel     build/release/python/snag-*.whl, for pip install: docs/python.md
#   ./setup.sh deps      just install what is missing of all, tests as well
#   ./setup.sh packages [KIND...]   just say which packages that are: program algebra loaded page demo mpich test more
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# What is needed, and what it is called: the only list. A row is one need: what it is for, how it is seen that it is
# there, and its packages (with commas between) in Debian and kin, in Fedora and RHEL (some in EPEL), in openSUSE and
# SLES, in Arch, and in Spack; - where there is none, or nobody has looked.
#
#   program  to build snag; algebra, loaded  libraries that it loads when they are needed: linear algebra for the map of
#   the page and some detectors; the client of PostgreSQL, and ZeroMQ for the parameter server; page  its page; demo  an MPI,
#   which the demo and most tests run; mpich  what tracers of its programs are built with; test  all tests; more  some
#   tests, which are skipped without
needs='
program command:cc               gcc                gcc                 gcc                 gcc       gcc
program command:cmake            cmake              cmake               cmake               cmake     cmake
program command:ninja            ninja-build        ninja-build         ninja               ninja     ninja
program command:pkg-config       pkg-config         pkgconf-pkg-config  pkg-config          pkgconf   pkgconf
program header:otf2/otf2.h       libotf2-trace-dev  otf2-devel          otf2-devel          otf2      otf2
program header:elfutils/libdw.h  libdw-dev          elfutils-devel      libdw-devel         libelf    elfutils
program header:libiberty/demangle.h libiberty-dev   binutils-devel      binutils-devel      binutils  libiberty+pic
program pkg-config:yajl          libyajl-dev        yajl-devel          libyajl-devel       yajl      yajl
program pkg-config:zlib          zlib1g-dev         zlib-devel          zlib-devel          zlib      zlib
program pkg-config:libzstd       libzstd-dev        libzstd-devel       libzstd-devel       zstd      zstd
program pkg-config:sqlite3       libsqlite3-dev     sqlite-devel        sqlite3-devel       sqlite    sqlite
program pkg-config:jansson       libjansson-dev     jansson-devel       libjansson-devel    jansson   jansson
program pkg-config:libxxhash     libxxhash-dev      xxhash-devel        xxhash-devel        xxhash    xxhash
algebra library:libopenblas.so.0 libopenblas0        openblas            libopenblas_pthreads0 openblas openblas
algebra library:liblapacke.so.3 liblapacke           lapack              liblapacke3         lapacke   openblas
loaded  library:libpq.so.5       libpq5             libpq               libpq5              postgresql-libs postgresql
loaded  library:libzmq.so.5      libzmq5            zeromq              libzmq5             zeromq    libzmq
page    command:npm              nodejs,npm         nodejs,npm          nodejs,npm          nodejs,npm node-js,npm
demo    command:mpirun           openmpi-bin        openmpi             openmpi4            openmpi   openmpi
demo    header:mpi.h             libopenmpi-dev     openmpi-devel       openmpi4-devel      openmpi   openmpi
mpich   header:mpich/mpi.h       libmpich-dev       mpich-devel         mpich-devel         mpich     mpich
test    pkg-config:cmocka        libcmocka-dev      libcmocka-devel     libcmocka-devel     cmocka    cmocka
test    command:c++              g++                gcc-c++             gcc-c++             gcc       gcc
test    command:jq               jq                 jq                  jq                  jq        jq
test    command:curl             curl               curl                curl                curl      curl
more    header:cblas.h           libopenblas-dev    openblas-devel      openblas-devel      openblas  openblas
more    header:lapacke.h         liblapacke-dev     lapack-devel        lapacke-devel       lapacke   openblas
more    header:libpq-fe.h        libpq-dev          libpq-devel         postgresql-devel    postgresql-libs postgresql
more    header:zmq.h             libzmq3-dev        zeromq-devel        zeromq-devel        zeromq    libzmq
more    command:mpirun.mpich     mpich              -                   -                   -         -
more    command:gfortran         gfortran           gcc-gfortran        gcc-fortran         gcc-fortran gcc
more    header:libsvm/svm.h      libsvm-dev         -                   -                   -         -
more    command:otf2-print       otf2-tools         otf2                otf2                otf2      otf2
more    command:mandoc           mandoc             mandoc              mandoc              mandoc    -
more    command:musl-gcc         musl-tools         musl-gcc            -                   musl      -
more    command:col              bsdextrautils      util-linux          util-linux          util-linux util-linux
more    python:mpi4py            python3-mpi4py     python3-mpi4py-openmpi python3-mpi4py   python-mpi4py py-mpi4py
more    command:chromium-headless-shell chromium-headless-shell - - - -
'

# Servers that tests start for themselves. Their packages start them as well, which nobody wants on a machine of
# their own: so they are installed just for tests, and only where no systemd would do that.
test_servers=(postgresql slurmctld slurmd slurm-client munge prometheus)

# What tests of the package for Python take its tables with, and execute its notebook.
test_python=(python3-numpy python3-pandas python3-venv mypy python3-nbclient python3-ipykernel)

# What the site of the documentation is made with.
docs_packages=(python3-sphinx python3-myst-parser furo)

# What has another name, or is there at all, since Debian 13.
case $(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}") in
debian\ 1[3-9])
    needs+='more header:adios2_c.h libadios2-serial-c-dev,adios2-serial-bin - - - adios2+sst
'
    ;;
esac

say() { printf '== %s\n' "$*" >&2; }

# Runs a command; what it prints is shown only if it fails.
quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    [ "$status" -eq 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

# family: whose names of packages this system has; as a column of the table of needs, from 3 on, or 0.
family() {
    local id=
    [ ! -r "${SNAG_OS_RELEASE:-/etc/os-release}" ] ||
        id=$(. "${SNAG_OS_RELEASE:-/etc/os-release}" && echo "${ID:-} ${ID_LIKE:-}")
    case " $id " in
    *' debian '* | *' ubuntu '*) echo 3 ;;
    *' fedora '* | *' rhel '* | *' centos '*) echo 4 ;;
    *suse*) echo 5 ;;
    *' arch '*) echo 6 ;;
    *) echo 0 ;;
    esac
}

# of_kinds KIND...: of the rows on standard input those that are for one of these. rows KIND...: of all needs.
of_kinds() { awk -v kinds=" $* " 'NF && index(kinds, " " $1 " ")'; }
rows() { of_kinds "$@" <<<"$needs"; }

# names COLUMN: what rows on standard input are called there, each once, on one line.
names() { awk -v c="$1" '$c != "-" { print $c }' | tr ',' '\n' | awk '!seen[$0]++' | paste -sd ' '; }

# is_there HOW:WHAT: whether a need is met, whatever brought it: packages, modules, Spack.
is_there() {
    local what=${1#*:} root
    case $1 in
    command:*) command -v "$what" >/dev/null ;;
    pkg-config:*) pkg-config --exists "$what" 2>/dev/null ;;
    library:*)
        for root in $(tr ':' ' ' <<<"${LD_LIBRARY_PATH:-}") /usr/lib /usr/lib64 /usr/local/lib /usr/lib/*-linux-gnu; do
            [ ! -e "$root/$what" ] || return 0
        done
        return 1
        ;;
    python:*) python3 -c "import $what" 2>/dev/null ;;
    header:*)
        for root in $(tr ':;' '  ' <<<"${CMAKE_PREFIX_PATH:-}") /usr /usr/local; do
            if compgen -G "$root/include/$what" >/dev/null || compgen -G "$root/include/*/$what" >/dev/null ||
                compgen -G "$root/*/*/$what" >/dev/null || compgen -G "$root/lib*/*/*/include/$what" >/dev/null; then
                return 0
            fi
        done
        return 1
        ;;
    esac
}

# unmet: of the rows on standard input those that are not met.
unmet() {
    local row fields
    while read -r row; do
        read -ra fields <<<"$row"
        is_there "${fields[1]}" || echo "$row"
    done
}

is_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }

# may_install: whether packages can be installed here; how becomes $as_root.
may_install() {
    as_root=()
    [ "$(family)" = 3 ] && command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || return 1
    [ "$(id -u)" -eq 0 ] && return
    command -v sudo >/dev/null && sudo -n true 2>/dev/null && as_root=(sudo) && return
    [ -t 0 ] && command -v sudo >/dev/null && as_root=(sudo)
}

# install_missing PACKAGE...: those of Debian that are missing.
install_missing() {
    local missing=() package
    for package; do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    say "installing ${#missing[@]} packages, with what they need: ${missing[*]}"
    [ -n "${lists_are_new:-}" ] || quietly "${as_root[@]}" apt-get -qq update
    lists_are_new=yes
    quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get -qq -y --no-install-recommends install "${missing[@]}"
}

# install_more PACKAGE...: what can be gone without, each by itself where not all of them can be had: Ubuntu has no
# chromium-headless-shell.
install_more() {
    local package
    install_missing "$@" && return
    for package; do
        install_missing "$package" || say "going on without $package"
    done
}

# stop_without ROWS: says what is missing, as this system calls it, and every way out.
stop_without() {
    local family how
    family=$(family)
    how=([0]='(with the packages of Debian)' [3]='apt-get install' [4]='dnf install' [5]='zypper install' [6]='pacman -S')
    say "these are missing, and cannot be installed from here:"
    {
        [ "$family" -ne 0 ] || how[0]='packages, as Debian calls them:'
        echo "   as root:        ${how[$family]} $(names $((family ? family : 3)) <<<"$1")"
        echo "   or with Spack:  spack install $(names 7 <<<"$1"), and spack load of the same"
        echo "   or without both: snag is also one file that runs on any x86-64 Linux of 2018 or later and needs none of"
        echo "                   these. './setup.sh dist' makes it where Debian 12 is, in a container, too: dist/README.md"
        echo "   If they are there, at a place that only CMake is told of: cmake --preset release && cmake --build --preset release"
    } >&2
    exit 1
}

# say_missing ROWS THEN KIND...: what is not there of those for one of these, and what follows.
say_missing() {
    local what
    what=$(of_kinds "${@:3}" <<<"$1" | awk '{ sub(/^[^:]*:/, "", $2); print $2 }' | paste -sd ' ')
    [ -z "$what" ] || say "not here: $what; $2"
}

# Without these there is still a program.
not_to_build='^(algebra|loaded|page|more|mpich) '

# deps KIND...: what these need is there from here on, or there is no going on. No npm on the path: no page, and no
# end, as the page says itself what it lacks; and what only some tests need, these say.
deps() {
    local wanted missing
    wanted=$(rows "$@")
    if may_install; then
        # Node.js from elsewhere does as well
        ! command -v npm >/dev/null || wanted=$(grep -v '^page ' <<<"$wanted")
        install_missing $(grep -v '^more ' <<<"$wanted" | names 3)
        install_more $(of_kinds more <<<"$wanted" | names 3)
        return
    fi
    missing=$(unmet <<<"$wanted")
    [ -z "$(grep -Ev "$not_to_build" <<<"$missing")" ] || stop_without "$(grep -Ev "$not_to_build" <<<"$missing")"
    say_missing "$missing" 'commands that need them say so' algebra loaded
    say_missing "$missing" 'tests that need them are skipped' more
}

all_kinds=(program algebra loaded page demo mpich test more)

test_deps() {
    deps "${all_kinds[@]}"
    may_install || return 0
    install_more "${docs_packages[@]}"
    install_more "${test_python[@]}"
    if [ -d /run/systemd/system ]; then
        say "not installed, as they would be started: ${test_servers[*]}; tests of what is not here are skipped"
    else
        install_more "${test_servers[@]}"
    fi
}

presets=(release asan tsan) # ways to build, see CMakePresets.json

# counted: ninja's lines become one that says how far it is, and where no terminal is a line for every fifth.
counted() {
    local line at of last=0
    while IFS= read -r line; do
        echo "$line"
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        at=${BASH_REMATCH[1]} of=${BASH_REMATCH[2]}
        if [ -t 2 ]; then
            printf '\r   %d of %d' "$at" "$of" >&2
            [ "$at" -lt "$of" ] || printf '\n' >&2
        elif [ $((5 * at / of)) -gt $last ]; then
            last=$((5 * at / of))
            printf '   %d of %d\n' "$at" "$of" >&2
        fi
    done
}

# build PRESET [OPTION...]: configures and builds one preset; options are CMake's, --target X what to build alone.
build() {
    local preset=$1 log target=() options=()
    shift
    while [ $# -gt 0 ]; do
        case $1 in
        --target) target=(--target "$2"); shift ;;
        *) options+=("$1") ;;
        esac
        shift
    done
    say "configuring build/$preset"
    quietly cmake --preset "$preset" "${options[@]}"
    say "building ${target[1]:-all} in build/$preset"
    log=$(mktemp)
    cmake --build --preset "$preset" "${target[@]}" 2>&1 | counted >"$log" || { cat "$log" >&2; rm -f "$log"; return 1; }
    rm -f "$log"
    [ ! -e "build/$preset/page.missing" ] || say "$(cat "build/$preset/page.missing")"
}

# run_tests [long]: builds in each way, then runs the tests of all together, three for each processor, as most wait for
# something: with two a quarter of the processors' time goes unused. In build/all is what CTest needs for that.
run_tests() {
    local preset since=$SECONDS building failed=0 how=(-LE '^(long|elsewhere)$') # what another build says better is left to that
    mkdir -p build/all/Testing/Temporary
    for preset in "${presets[@]}"; do
        build $preset -DSNAG_TESTS=ON
    done
    building=$((SECONDS - since))
    printf 'subdirs(../%s)\n' "${presets[@]}" >build/all/CTestTestfile.cmake
    rm -f build/all/Testing/Temporary/LastTests*.log # they stay where there is nothing to note
    if [ "${1:-}" = long ]; then
        how=()
        export $(jq -r '.testPresets[] | select(.name == "long").environment | to_entries[] | "\(.key)=\(.value)"' \
            CMakePresets.json)
    fi
    ctest --test-dir build/all --output-on-failure -j $((3 * $(nproc))) "${how[@]}" || failed=1
    conclude $building
    return $failed
}

# Of what CTest has noted: the names of those that failed, or were skipped.
noted() { sed 's/^[0-9]*://' build/all/Testing/Temporary/LastTests$1.log 2>/dev/null || true; }

# Why tests were skipped: "NAMES (reason), ...". The first line that a test printed is why.
why_skipped() {
    noted Disabled | awk '
        NR == FNR { is_skipped[$0]; next }
        /^[0-9]+\/[0-9]+ Test: / { name = $3; next }
        /^Output:$/ { getline; getline; sub(/^skipped: /, "")
            if (name in is_skipped) {
                if (!($0 in n)) reason[++n_reasons] = $0
                names[$0] = names[$0] (n[$0]++ ? " " : "") name
            } }
        END { for (i = 1; i <= n_reasons; i++) {
            r = reason[i]; folder = names[r]; sub(/\/[^\/]*( .*)?$/, "", folder)
            printf "%s%s (%s)", (i > 1 ? ", " : ""), (n[r] > 3 ? n[r] " of " folder "/" : names[r]), r } }' \
        - build/all/Testing/Temporary/LastTest.log
}

# What was run, what was skipped and why, how long it took; and how to run again what failed.
conclude() {
    local ran failed n_skipped skipped
    ran=$(($(grep -c '^Test time = ' build/all/Testing/Temporary/LastTest.log) - $(noted Disabled | wc -l)))
    failed=$(noted Failed)
    n_skipped=$(noted Disabled | wc -l)
    skipped=$(why_skipped)
    say "run: $ran tests, $(grep -c . <<<"$failed" || true) failed"
    say "skipped: $n_skipped${skipped:+: $skipped}"
    say "time: $(minutes $SECONDS), of which $(minutes "$1") to build"
    [ -z "$failed" ] ||
        say "again what failed: ctest --test-dir build/all --output-on-failure -R '^($(paste -sd '|' <<<"$failed"))\$'"
}

minutes() { echo "$(($1 / 60)) min $(($1 % 60)) s"; }

# for_demo: what the demo runs on, and nothing else: no tests, one MPI, and a build of its own that the compiler spends half
# the time on; where there is a release build already, that. The directory of the build is in $build.
for_demo() {
    local page='page algebra' options=(-DSNAG_PAGE=AUTO)
    [ "${DEMO_SERVE:-1}" != 0 ] || { page='' options=(-DSNAG_PAGE=OFF); }
    deps program $page demo
    build=demo
    [ ! -e build/release/build.ninja ] || { build=release options=(); }
    build $build "${options[@]}" --target demo
    build=build/$build
}

for_all() {
    deps "${all_kinds[@]}"
    build release
}

# for_program: all that is installed, with the tracers of both MPIs; tests only where what they need is here.
for_program() {
    deps program algebra loaded page demo mpich
    build release
}

case ${1:-} in
deps) deps "${all_kinds[@]}" ;;
packages)
    shift
    [ $# -gt 0 ] || set -- "${all_kinds[@]}"
    rows "$@" | names 3
    ;;
build) for_program ;;
test)
    test_deps
    run_tests
    ;;
test-long)
    test_deps
    run_tests long
    ;;
coverage)
    test_deps
    ! may_install || install_missing gcovr
    build coverage -DSNAG_TESTS=ON
    find build/coverage -name '*.gcda' -delete # of runs before
    failed=0
    # not what notices that counts are written: where no file may be, and where what is recorded must be fast
    ctest --test-dir build/coverage --output-on-failure -j $((3 * $(nproc))) -LE '^long$' -E '^(dist/|robust/world|record/(inject|polls)$)' ||
        failed=1
    # a count that a signal has interrupted may be below 0
    gcovr --root . --gcov-ignore-parse-errors -j "$(nproc)" --filter 'src/' --filter 'tracer/' --exclude '.*_test\.c$' \
        --txt build/coverage/files.txt --print-summary build/coverage
    say "file by file: build/coverage/files.txt"
    exit $failed
    ;;
demo)
    for_demo
    examples/demo.sh "$build"
    [ "${DEMO_SERVE:-1}" = 0 ] && exit
    say "the same in a browser, until Ctrl-C (DEMO_SERVE=0 leaves this out)"
    exec "$build/snag" serve examples/out/demo.snag
    ;;
demo-live)
    for_demo
    exec examples/demo_live.sh "$build"
    ;;
bench)
    for_all
    exec bench/run.sh build/release
    ;;
truth)
    for_all
    shift
    exec python3 tests/truth/lab.py build/release "${1:-build/truth}" "${@:2}"
    ;;
screenshots)
    for_all
    mkdir -p examples/out
    examples/demo.sh build/release | tee examples/out/demo.log
    python3 examples/shown.py write README.md examples/out/demo.log build/release/snag examples/out/demo.snag
    cd build/release/web
    SNAG=$OLDPWD/build/release/snag exec node e2e/screenshots.mjs "$OLDPWD/examples/out/demo.snag" "$OLDPWD/docs/images"
    ;;
gallery)
    for_all
    shift
    gallery=$(realpath -m "${1:-build/gallery}")
    export SNAG=$PWD/build/release/snag SNAG_DEMO=$PWD/examples/out/demo.snag
    export SNAG_DATA=${SNAG_DATA:-$PWD/../shared/data}
    examples/demo.sh build/release
    cd build/release/web
    exec node e2e/gallery.mjs "$gallery" "${@:2}"
    ;;
dist)
    for_program
    cmake --build build/release --target dist
    ;;
install)
    for_program
    cmake --install build/release --prefix "${PREFIX:-/usr/local}"
    ;;
docs)
    for_program
    ! may_install || install_missing "${docs_packages[@]}"
    . tests/support/find_python.sh
    python=$(find_python sphinx,myst_parser,furo) || {
        say "no Python with Sphinx, myst-parser and furo: ${docs_packages[*]}"
        exit 1
    }
    PYTHONDONTWRITEBYTECODE=1 "$python" docs/site/make.py build/release/snag . build/docs
    say "build/docs/index.html"
    ;;
wheel)
    for_program
    python3 python/build_wheel.py build/release
    ;;
*)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
