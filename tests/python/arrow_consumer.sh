#!/usr/bin/env bash
# Tables of the package for Python as streams of Arrow, taken by a program in C under AddressSanitizer: arrow_consumer.c.
#
#   arrow_consumer.sh SNAG LIBRARY SOURCE COMPILER
set -eu
SNAG=$(realpath "$1") library=$(realpath "$2") SOURCE=$(realpath "$3") compiler=$4
. "$SOURCE/tests/support/find_python.sh"
python=$(find_python ctypes) || {
    echo "skipped: no Python 3.8 or later with ctypes"
    exit 77
}
asan=$("$compiler" -print-file-name=libasan.so)
[ -e "$asan" ] || {
    echo "skipped: $compiler has no AddressSanitizer as a library"
    exit 77
}
. "$SOURCE/tests/support/own_directory.sh"
"$compiler" -std=gnu11 -O1 -g -Wall -Wextra -Werror -fsanitize=address -fPIC -shared -o consumer.so \
    "$SOURCE/tests/python/arrow_consumer.c"
export SNAG_LIBRARY=$library SNAG_COMMAND=$SNAG PYTHONPATH=$SOURCE/python PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc
# What Python itself does not give back at its end is none of this test's.
LD_PRELOAD=$(realpath "$asan") ASAN_OPTIONS=detect_leaks=0 \
    "$python" "$SOURCE/tests/python/arrow_consumer_test.py" consumer.so "$dir" -v
