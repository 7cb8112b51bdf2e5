#!/usr/bin/env bash
# clang-format would change nothing. Its releases differ in detail: another than the one the
# sources were formatted with does not count. Nor has it filled a list of parameters into the
# sentence before, as it does where a line of them is too long.
#
#   format.sh SOURCE_DIRECTORY
set -eu
cd "$1"

if grep -nE '^ \* ?[^ ].*[^ .]  +[^ ]' $(find src tracer include -name '*.[ch]' 2>/dev/null) /dev/null; then
    echo "a parameter, or a row of a drawing, stands within a sentence: it has a line of its own, indented"
    exit 1
fi
# The end of an indented line that was too long, at the margin.
if ! awk 'FNR == 1 { last = "" }
    /^ \* [a-z_(`"]/ && last ~ /^ \*   +[^ ]/ && length(last) > 84 && last !~ /[].;:})"]$/ && !/^ \* [a-z_0-9, ]+ --/ {
        printf "%s:%d:%s\n", FILENAME, FNR, $0
        is_broken = 1
    }
    { last = $0 }
    END { exit is_broken }' $(find src tracer include tests bench -name '*.[ch]' 2>/dev/null) /dev/null; then
    echo "this goes on with the line before, which is indented: so is this"
    exit 1
fi
# Python, as black leaves it with 96 columns: what of that can be seen without it.
if awk 'length > 96 || /[ \t]$/ || /^ *\t/ { printf "%s:%d: %s\n", FILENAME, FNR, $0; n++ } END { exit n == 0 }' \
    $(find python tests/python -name '*.py' 2>/dev/null) /dev/null; then
    echo "lines of more than 96 columns, tabs, or spaces at the end"
    exit 1
fi
if ! clang-format --version 2>/dev/null | grep -q ' version 14\.'; then
    echo "clang-format 14 is not here"
    exit 77
fi
find src tests examples tracer -name '*.[ch]' 2>/dev/null | sort |
    xargs clang-format --style=file --dry-run -Werror
