#!/usr/bin/env bash
# Each folder of src/ has a README of 10 to 45 lines, and the files and functions that it names are there: in a row of
# a table each name stands in one of the files that the row names, or in the folder where it names none.
#
#   readmes.sh SOURCE_DIRECTORY
set -eu
cd "$1"
status=0
say() { echo "$*"; status=1; }

names=$(mktemp)
trap 'rm -f "$names"' EXIT
{
    find . -path ./build -prune -o -path '*/node_modules' -prune -o -type f -printf '%f\n'
    find src include web/src cmake -type f \( -name '*.[ch]' -o -name '*.sql' -o -name '*.json' -o -name '*.ts*' -o -name '*.cmake' -o -name CMakeLists.txt \) \
        -exec cat {} + 2>/dev/null | grep -oE '[A-Za-z_][A-Za-z0-9_]*'
} | sort -u >"$names"
for folder in src/*/; do
    readme=${folder}README.md
    [ -f "$readme" ] || { say "$folder has no README.md"; continue; }
    n=$(wc -l <"$readme")
    [ "$n" -ge 10 ] && [ "$n" -le 45 ] || say "$readme has $n lines, not 10 to 45"
done
# Files, and words with an underscore, between backticks; what has <...> or an ellipsis is a pattern.
missing=$({ grep -oHE '`[^`]+`' src/*/README.md || true; } | grep -vE '[<>]|\.\.\.' | awk -F: '
    FNR == NR { there[$0] = 1; stem = $0; if (sub(/\.[ch]$/, "", stem)) there[stem] = 1; next }
    {
        text = $0; sub(/^[^:]*:/, "", text)
        while (match(text, /[A-Za-z][A-Za-z0-9_]*\.(c|h|sql|json)|[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)+/)) {
            name = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
            if (!(name in there) && !seen[$1, name]++) print $1 " names " name ", which is not there"
        }
    }' "$names" -)
[ -z "$missing" ] || say "$missing"

# Of each row a line: where it stands, how many files, the files, the names. `cmd/print.c` is a file of another folder,
# `print.c` one of this, also as `print`; `struct x`, `x[]` and `x` are names; patterns and commands are neither.
rows=$(mktemp)
trap 'rm -f "$names" "$rows"' EXIT
find . -path ./build -prune -o -path '*/node_modules' -prune -o -type f -printf '%P\n' | awk '
    FNR == NR { there[$0] = 1; at = $0; while (sub(/\/[^\/]*$/, "", at)) there[at "/"] = 1; next }
    FNR == 1 { folder = FILENAME; sub(/README\.md$/, "", folder) }
    !/^\|/ { next }
    {
        n = split($0, part, "`"); files = ""; n_files = 0; words = ""
        for (i = 2; i <= n; i += 2) {
            name = part[i]
            sub(/^(struct|enum) /, "", name); sub(/\[\]$/, "", name)
            if (name ~ /[ <>*]|\.\.\./)
                continue
            if ((folder name ".c") in there || (folder name ".h") in there)
                continue
            if (name ~ /^[A-Za-z_][A-Za-z0-9_]*$/) { words = words " " name; continue }
            if (name !~ /\/|\.(c|h|sql|json|ts|tsx|txt|in|sh|md)$/)
                continue
            path = folder name
            if (!(path in there)) path = "src/" name
            if (!(path in there) && name ~ /\//) path = name
            if (!(path in there)) { print FILENAME ":" FNR ": there is no " name > "/dev/stderr"; continue }
            if (path !~ /\/$/) { files = files " " path; n_files++ }
        }
        print FILENAME ":" FNR, n_files files words
    }' - src/*/README.md >"$rows" 2>"$names"
cut -d' ' -f3- "$rows" | tr ' ' '\n' | grep -vE '[/.]' | sort -u >>"$names.words" || true
grep -rowHF -f "$names.words" src include tracer web/src tests 2>/dev/null | grep -v 'README\.md:' | awk '
    FNR == NR { at = index($0, ":"); path = substr($0, 1, at - 1); word = substr($0, at + 1)
        has[path, word] = 1; folder = path; sub(/[^\/]*$/, "", folder); has[folder, word] = 1
        while (sub(/[^\/]*\/$/, "", folder)) has[folder, word] = 1
        next }
    {
        folder = $1; sub(/README.*/, "", folder)
        for (i = 3 + $2; i <= NF; i++) {
            is_there = $2 == 0 && ((folder, $i) in has)
            for (k = 3; k < 3 + $2; k++) is_there = is_there || (($k, $i) in has)
            if (!is_there) print $1 ": " $i " is in none of the files of its row"
        }
    }' - "$rows" >>"$names"
rm -f "$names.words"
[ ! -s "$names" ] || { cat "$names"; status=1; }
exit $status
