#!/usr/bin/env bash
# The field's words (STYLE, sections 9 and 11): a bound is MAX_ or MIN_ with what it bounds.
#
#   words.sh SOURCE_DIRECTORY
set -eu
cd "$1"

files=$(find src tests bench examples tracer -name '*.[ch]' 2>/dev/null | sort)
if grep -nE '^ *(#define |enum \{.*)\b([A-Z0-9]+_)*(MOST|LEAST|FEWEST|LARGEST)(_[A-Z0-9]+)*\b' $files /dev/null |
    grep -vE '\bAT_(LEAST|MOST)\b'; then
    echo "bounds are MAX_ and MIN_ with what they bound"
    exit 1
fi
