#!/usr/bin/env bash
# Each folder of src/ has a README of 10 to 30 lines, and the files and functions that it names are there.
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
    [ "$n" -ge 10 ] && [ "$n" -le 30 ] || say "$readme has $n lines, not 10 to 30"
    # Files, and words with an underscore, between backticks; what has <...> or ends by one is a pattern.
    while read -r name; do
        [ -z "$name" ] || grep -qxF "$name" "$names" || { [[ $name != *.* ]] && grep -qxE "$name\\.[ch]" "$names"; } || say "$readme names $name, which is not there"
    done < <(grep -oE '`[^`]+`' "$readme" | grep -v '[<>]' | grep -oE '[A-Za-z][A-Za-z0-9_]*\.(c|h|sql|json)\b|\b[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)+\b' | sort -u)
done
exit $status
