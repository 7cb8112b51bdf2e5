#!/usr/bin/env bash
# Commands say what they say through print() and tables, which make names from outside printable,
# and through json_put and csv_text; printf and its like would pass them on as they are.
#
#   output.sh SOURCE
set -eu
cd "$1/src/cmd"
found=$(grep -nE '(^|[^a-z_.])(printf|puts|vprintf) ?\([^"]|(^|[^a-z_.])printf\("[^"]*%s' ./*.c |
    grep -vE '^\./(print|help|main|[a-z_]*_test)\.c:' || true)
[ -z "$found" ] || { echo "printf or the like in commands, where print() should be:"; echo "$found"; exit 1; }
