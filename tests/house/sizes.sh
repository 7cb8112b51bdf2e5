#!/usr/bin/env bash
# A file name is used once; no function has more than 60 lines between its braces, no C file more
# than 900; of the package for Python the same is so.
#
#   sizes.sh SOURCE_DIRECTORY
set -eu
cd "$1"
status=0

files=$(find src tests examples tracer -name '*.[ch]' 2>/dev/null | sort)
twice=$(printf '%s\n' $files | sed 's|.*/||' | sort | uniq -d)
for name in $twice; do
    echo "the name $name is used by" $(printf '%s\n' $files | grep "/$name\$")
    status=1
done

awk -v most_lines=60 -v most_file=900 '
FNR == 1 { start = 0 }
FNR == most_file + 1 { printf "%s: more than %d lines\n", FILENAME, most_file; is_broken = 1 }
/^[A-Za-z_].*\(/ { name = $0 }
/^{/ { start = FNR }
/^}/ && start {
    if (FNR - start - 1 > most_lines) {
        printf "%s:%d: %d lines: %s\n", FILENAME, start, FNR - start - 1, name
        is_broken = 1
    }
    start = 0
}
END { exit is_broken }' $files || status=1

# A body goes from the line after its `def` to the last line that is indented deeper.
for file in $(find python tests/python -name '*.py' 2>/dev/null | sort); do
    awk -v most_lines=60 -v most_file=900 '
    function close_body() {
        if (start && last - start > most_lines) {
            printf "%s:%d: %d lines: %s\n", FILENAME, start, last - start, name
            is_broken = 1
        }
        start = 0
    }
    FNR == most_file + 1 { printf "%s: more than %d lines\n", FILENAME, most_file; is_broken = 1 }
    /^ *[^ ]/ { match($0, /^ */); depth = RLENGTH }
    start && /[^ ]/ && depth <= indent && !/^ *\)/ { close_body() }
    /^ *def / && !start { start = FNR; indent = depth; name = $0 }
    /[^ ]/ { last = FNR }
    END { close_body(); exit is_broken }' "$file" || status=1
done
exit $status
