#!/usr/bin/env bash
# Data moves one way: a folder of src/ includes itself and what it USES by its CMakeLists.txt, and
# so on downwards, nothing else; only its tests include what is in tests/ (samples/, support/), by its name
# alone; and it USES only what stands before it in src/CMakeLists.txt.
# A module of python/snag imports at its top only what stands before it in python/README.md.
# Prints every #include and every USES that breaks this.
#
#   layers.sh SOURCE_DIRECTORY
set -eu
cd "$1"

# A row per folder, in order: what it is called, then what it uses.
table=$(
    sed -n 's/^add_subdirectory(\(.*\))/\1/p' src/CMakeLists.txt | while read -r folder; do
        echo "$folder" $(tr '\n' ' ' <"src/$folder/CMakeLists.txt" |
            sed -n 's/.*add_[a-z_]*module([^)]* USES \([a-z ]*\).*/\1/p')
    done
)

status=0
modules=$(sed -n 's/^| `\([a-z_]*\)\.py` |.*/\1/p' python/README.md 2>/dev/null || true)
for file in $(find python/snag -name '*.py' 2>/dev/null | sort); do
    awk -v modules="$modules" -v own="$(basename "$file" .py)" '
    BEGIN {
        n = split(modules, row, "\n")
        for (i = 1; i <= n && row[i] != own; i++) may[row[i]]
    }
    FNR == 1 && i > n { print FILENAME ": is not in python/README.md"; is_broken = 1 }
    /^from \.[a-z_]* import |^from \. import / {
        text = $2 == "." ? $0 : substr($2, 2)
        sub(/^from \. import /, "", text); sub(/ as .*/, "", text)
        for (k = split(text, name, /, /); k > 0; k--)
            if (!(name[k] in may)) { printf "%s:%d: may not import \"%s\"\n", FILENAME, FNR, name[k]; is_broken = 1 }
    }
    END { exit is_broken }' "$file" || status=1
done

find src -name '*.[ch]' | sort | xargs awk -v table="$table" '
function folder_of(path) { sub(/\/.*/, "", path); return path }
function say(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; is_broken = 1 }

# may[a, c] for all c that a reaches; a row only names what stands above it
function close_table(n, i, k, row, direct, m, c) {
    n = split(table, row, "\n")
    for (i = 1; i <= n; i++) {
        m = split(row[i], direct, " ")
        known[direct[1]] = may[direct[1], direct[1]] = 1
        for (k = 2; k <= m; k++) {
            if (!(direct[k] in known)) {
                printf "src/CMakeLists.txt: %s uses %s, which comes after it\n", direct[1], direct[k]
                is_broken = 1
            }
            for (c in known)
                if (may[direct[k], c])
                    may[direct[1], c] = 1
        }
    }
}
BEGIN { close_table() }
FNR == 1 {
    folder = folder_of(substr(FILENAME, 5))
    is_test = FILENAME ~ /_test\.c$/
    if (!(folder in known))
        say("folder " folder "/ is not in src/CMakeLists.txt")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    path = part[2]
    if (path !~ /\//) {
        if (!is_test)
            say("only tests include from tests/: \"" path "\"")
    } else if (path == "snag/snag.h" && folder == "api") {
        next # what it implements
    } else if (!may[folder, folder_of(path)]) {
        say(folder "/ may not include \"" path "\"")
    }
}
END { exit is_broken }' || status=1
exit $status
