#!/usr/bin/env bash
# What is installed is enough to build against: the examples of the library, with pkg-config and
# with CMake; what they say is what snag says. Nothing but what snag.h names is seen from outside.
#
#   installed.sh SNAG BUILD EXAMPLES
set -eu
SNAG=$1 BUILD=$2 EXAMPLES=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
    echo "$*"
    failed=1
}

cmake --install "$BUILD" --prefix "$work/prefix" >/dev/null
lib=$(dirname "$(find "$work/prefix" -name libsnag.so | head -n 1)")
foreign=$(nm -D --defined-only "$lib/libsnag.so" | awk '$3 !~ /^snag_/ { print $3 }')
[ -z "$foreign" ] || complain "seen from outside: $foreign"

cd "$work"
export LD_LIBRARY_PATH=$lib PKG_CONFIG_PATH=$lib/pkgconfig
if command -v pkg-config >/dev/null; then
    for example in read_run push_events score_trace; do
        # shellcheck disable=SC2046
        cc -std=c11 -Wall -Wextra -Werror "$EXAMPLES/$example.c" -o "$example" $(pkg-config --cflags --libs snag)
    done
    [ "$(pkg-config --modversion snag)" = "$("$SNAG" --version | cut -d' ' -f2)" ] || complain "another version"
else
    for example in read_run push_events score_trace; do
        cc -std=c11 -Wall -Wextra -Werror -I"$work/prefix/include" "$EXAMPLES/$example.c" -o "$example" -L"$lib" -lsnag
    done
fi
if command -v c++ >/dev/null; then
    echo '#include <snag/snag.h>' >header.cpp
    c++ -fsyntax-only -Wall -Werror -I"$work/prefix/include" header.cpp || complain "not for C++"
fi

mkdir cmake
cat >cmake/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.21)
project(user LANGUAGES C)
find_package(snag REQUIRED)
add_executable(user $EXAMPLES/push_events.c)
target_link_libraries(user PRIVATE snag::snag)
END
cmake -G Ninja -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build cmake/build >/dev/null
[ "$(cmake/build/user | tail -n 1)" = "4 executions do not belong" ] || complain "with CMake: $(cmake/build/user)"

program='synth:500*step(a@1ms b(c@1ms d@2ms >1 <1));ranks=4;jitter='
"$SNAG" analyze "${program}0.02" -o quiet.snag --foi step --quiet >/dev/null
"$SNAG" model save quiet.snag quiet.model --quiet >/dev/null
status=0
./score_trace "${program}0.1;slow=d/97/5;seed=5" quiet.model scored.snag 3 >said || status=$?
[ $status = 3 ] || complain "score_trace: status $status"
"$SNAG" score "${program}0.1;slow=d/97/5;seed=5" --model quiet.model -o same.snag --quiet >/dev/null
n=$("$SNAG" query same.snag "SELECT count(*) FROM execution WHERE verdict = 'anomaly'" --format csv | tail -n 1)
[ "$(cat said)" = "$n executions of step do not belong" ] || complain "score_trace says '$(cat said)', snag $n"
[ "$(./read_run scored.snag | grep -c '^  rank')" = "$n" ] || complain "read_run says otherwise"
exit $failed
