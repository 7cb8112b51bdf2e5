#!/usr/bin/env bash
# The front door: installs what is missing, builds, and runs.
#
#   ./setup.sh demo      build, trace a small MPI program under disturbances, find them, show them
#                        in a browser (DEMO_SERVE=0: not that)
#   ./setup.sh demo-live build, and watch the same program while it runs
#   ./setup.sh test      build in three ways (release, ASan+UBSan, TSan) and run the tests: 15 to 40 minutes on two
#                        processors
#   ./setup.sh test-long ... and all of them in all ways, with more of what is done at random: see CONTRIBUTING.md
#   ./setup.sh build     just build: build/release/snag
#   ./setup.sh truth [DIR]   programs that write down what went wrong, and what snag says of it: a scoreboard; a quarter of an hour
#   ./setup.sh bench     measure; results go to bench/RESULTS.md
#   ./setup.sh screenshots   the pictures of README.md, in docs/images, from the demo as it is
#   ./setup.sh gallery [DIR]   the page: every view of five runs, in seven sizes, light and dark, to be looked at
#   ./setup.sh dist      one file that runs on any Linux, without root: build/dist/snag-VERSION-linux-x86_64.tar.xz
#   ./setup.sh install   install to PREFIX (default /usr/local)
#   ./setup.sh docs      the documentation as a site, with a search, that needs no network: build/docs/index.html
#   ./setup.sh wheel     build/release/python/snag-*.whl, for pip install: docs/python.md
#   ./setup.sh deps      just install what is missing
#   ./setup.sh packages  just say which packages that are
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Everything from the distribution's packages. This is the only list.
packages=(
    gcc g++ cmake ninja-build pkg-config
    libotf2-trace-dev libdw-dev libyajl-dev zlib1g-dev libzstd-dev libiberty-dev
    libsqlite3-dev libpq-dev libjansson-dev libxxhash-dev libopenblas-dev liblapacke-dev
    libcmocka-dev libsvm-dev otf2-tools jq curl mandoc bsdextrautils
    libzmq3-dev libmsgpack-dev
    libopenmpi-dev openmpi-bin libmpich-dev mpich gfortran python3-mpi4py
    chromium-headless-shell
)

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
    packages=("${packages[@]/libmsgpack-dev/libmsgpack-c-dev}")
    packages+=(libadios2-serial-c-dev adios2-serial-bin bsdextrautils)
    ;;
esac

# For the page, if there is no other Node.js on the path.
command -v npm >/dev/null || packages+=(nodejs npm)

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

# install_missing PACKAGE...: those that are missing. Not on Debian or its kin: says what is needed and goes
# on, as it may be there under other names.
install_missing() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "not a Debian system; what is needed is what these packages hold: $*"
        return
    fi
    local missing=() package
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    say "installing ${missing[*]}"
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            say "not root, and no sudo: cannot install them; going on without"
            return
        fi
        root=(sudo)
    fi
    quietly "${root[@]}" apt-get -qq update
    quietly "${root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get -qq -y --no-install-recommends install "${missing[@]}"
}

deps() { install_missing "${packages[@]}"; }

test_deps() {
    deps
    install_missing "${docs_packages[@]}" || say "going on without ${docs_packages[*]}"
    install_missing "${test_python[@]}" || say "going on without ${test_python[*]}"
    if [ -d /run/systemd/system ]; then
        say "not installed, as they would be started: ${test_servers[*]}; tests of what is not here are skipped"
    else
        install_missing "${test_servers[@]}" || say "going on without ${test_servers[*]}"
    fi
}

presets=(release asan tsan) # ways to build, see CMakePresets.json

# Configures and builds one preset.
build() {
    local preset=$1
    say "building $preset"
    quietly cmake --preset "$preset"
    quietly cmake --build --preset "$preset"
}

# run_tests [long]: builds in each way, then runs the tests of all together, as half of them wait for something. In
# build/all is what CTest needs for that.
run_tests() {
    local preset since=$SECONDS building failed=0 how=(-LE '^(long|elsewhere)$') # what another build says better is left to that
    mkdir -p build/all/Testing/Temporary
    for preset in "${presets[@]}"; do
        build $preset
    done
    building=$((SECONDS - since))
    printf 'subdirs(../%s)\n' "${presets[@]}" >build/all/CTestTestfile.cmake
    rm -f build/all/Testing/Temporary/LastTests*.log # they stay where there is nothing to note
    if [ "${1:-}" = long ]; then
        how=()
        export $(jq -r '.testPresets[] | select(.name == "long").environment | to_entries[] | "\(.key)=\(.value)"' \
            CMakePresets.json)
    fi
    ctest --test-dir build/all --output-on-failure -j $((2 * $(nproc))) "${how[@]}" || failed=1
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

case ${1:-} in
deps) deps ;;
packages) echo "${packages[@]}" ;;
build)
    deps
    build release
    ;;
test)
    test_deps
    run_tests
    ;;
test-long)
    test_deps
    run_tests long
    ;;
demo)
    deps
    build release
    examples/demo.sh build/release
    [ "${DEMO_SERVE:-1}" = 0 ] && exit
    say "the same in a browser, until Ctrl-C (DEMO_SERVE=0 leaves this out)"
    exec build/release/snag serve examples/out/demo.snag
    ;;
demo-live)
    deps
    build release
    exec examples/demo_live.sh build/release
    ;;
bench)
    deps
    build release
    exec bench/run.sh build/release
    ;;
truth)
    deps
    build release
    shift
    exec python3 tests/truth/lab.py build/release "${1:-build/truth}" "${@:2}"
    ;;
screenshots)
    deps
    build release
    examples/demo.sh build/release
    cd build/release/web
    SNAG=$OLDPWD/build/release/snag exec node e2e/screenshots.mjs "$OLDPWD/examples/out/demo.snag" "$OLDPWD/docs/images"
    ;;
gallery)
    deps
    build release
    cd build/release/web
    SNAG=$OLDPWD/build/release/snag exec node e2e/gallery.mjs "${2:-$OLDPWD/build/gallery}"
    ;;
dist)
    deps
    build release
    cmake --build build/release --target dist
    ;;
install)
    deps
    build release
    cmake --install build/release --prefix "${PREFIX:-/usr/local}"
    ;;
docs)
    deps
    build release
    install_missing "${docs_packages[@]}"
    . tests/python/find_python.sh
    python=$(find_python sphinx,myst_parser,furo) || {
        say "no Python with Sphinx, myst-parser and furo: ${docs_packages[*]}"
        exit 1
    }
    PYTHONDONTWRITEBYTECODE=1 "$python" docs/site/make.py build/release/snag . build/docs
    say "build/docs/index.html"
    ;;
wheel)
    deps
    build release
    python3 python/build_wheel.py build/release
    ;;
*)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
