#!/usr/bin/env bash
# The tracer knows how long instructions are, and where they lead, as objdump does.
#
#   instructions.sh PROGRAM FILE...
set -eu -o pipefail
program=$1
shift
command -v objdump >/dev/null || { echo "objdump is missing"; exit 77; }
for file; do
    objdump -d --wide --insn-width=16 "$file" | awk -F'\t' 'NF >= 3 { print $2 "\t" $3 }' | "$program" || { echo "$file"; exit 1; }
done
