#!/usr/bin/env bash
# Data moves one way: a folder of src/ includes itself and what its row of the table names, and
# so on downwards, nothing else. Prints every #include that breaks this.
#
#   layers.sh SOURCE_DIRECTORY
set -eu
cd "$1"

# folder: what it may include directly. A folder that is not here may not exist.
table='
base:
trace: base
stack: trace
forest: stack
features: forest
detect: features
learn: detect
explain: features
score: learn explain
project: base
ps: detect
prov: detect
live: score prov ps
run: forest
analysis: score run project prov ps
view: analysis
api: view live
http: base
web: view live http
cmd: web live
'

find src -name '*.[ch]' | sort | xargs awk -v table="$table" '
function folder_of(path) { sub(/\/.*/, "", path); return path }
function say(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; is_broken = 1 }

# may[a, c] for all c that a reaches; the rows above only name what stands above them
function close_table(n, i, k, row, direct, m, c) {
    n = split(table, row, "\n")
    for (i = 1; i <= n; i++) {
        m = split(row[i], direct, /[: ]+/)
        if (m == 0)
            continue
        known[direct[1]] = may[direct[1], direct[1]] = 1
        for (k = 2; k <= m; k++)
            for (c in known)
                if (may[direct[k], c])
                    may[direct[1], c] = 1
    }
}
BEGIN { close_table() }
FNR == 1 {
    folder = folder_of(substr(FILENAME, 5))
    is_test = FILENAME ~ /(_test|\/sample_[a-z_]*)\.c$/ # samples are made for tests
    if (!(folder in known))
        say("folder " folder "/ is not in the table")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    path = part[2]
    if (path !~ /\//) {
        if (!is_test)
            say("only tests include from tests/support: \"" path "\"")
    } else if (path == "base/test.h" && !is_test) {
        say("only tests include base/test.h")
    } else if (path == "snag/snag.h" && folder == "api") {
        next # what it implements
    } else if (!may[folder, folder_of(path)]) {
        say(folder "/ may not include \"" path "\"")
    }
}
END { exit is_broken }'
