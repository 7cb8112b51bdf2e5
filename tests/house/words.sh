#!/usr/bin/env bash
# The field's words: a bound is MAX_ or MIN_ with what it bounds, and what docs/glossary.md has under "not" is said nowhere:
# by no name of a file, struct, function, field or variable, no comment of src/ and tracer/, and no message (messages.py).
# No page of docs/ says it either, but where it quotes a value or a name (`unsure`), or what others did to a program (the
# disturbances of the demo).
# And a name of a struct, union or enum stands for one thing.
#
#   words.sh SOURCE_DIRECTORY
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

files=$(find src tests bench examples tracer -name '*.[ch]' 2>/dev/null | sort)
if grep -nE '^ *(#define |enum \{.*)\b([A-Z0-9]+_)*(MOST|LEAST|FEWEST|LARGEST)(_[A-Z0-9]+)*\b' $files /dev/null |
    grep -vE '\bAT_(LEAST|MOST)\b'; then
    echo "bounds are MAX_ and MIN_ with what they bound"
    exit 1
fi

twice=$(grep -nE '^ *(static (const )?)?(struct|union|enum) [a-z0-9_]+ \{' $(find src tracer -name '*.[ch]' ! -name '*_test.c') /dev/null |
    sed -E 's/^([^:]*:[0-9]+):.*(struct|union|enum) ([a-z0-9_]+) \{.*/\3 \1/' | sort |
    awk '$1 == name { print name ": " place " and " $2 } { name = $1; place = $2 }')
[ -z "$twice" ] || { printf 'a struct, union or enum of that name is elsewhere, too: %s\n' "$twice"; exit 1; }

[ -f docs/glossary.md ] || exit 0
words=$(awk -F'|' '/^\|/ && NF == 6 && $5 !~ /^ *(not|---) *$/ { print $5 }' docs/glossary.md | tr ',' '\n' |
    sed -E 's/^ +| +$//g; /^$/d')
[ -n "$words" ] || { echo 'docs/glossary.md has no names under "not"'; exit 1; }
pattern=$(grep -v ' ' <<<"$words" | paste -sd '|')
status=0
found=$(mktemp)
trap 'rm -f "$found"' EXIT
find src tracer -name '*.[ch]' | grep -E "/($pattern)(_[a-z0-9_]*)?\.[ch]\$" && status=1
# Names and comments, but not texts: in JSON, SQL and CSS are values and columns that others read.
forbidden="\b($pattern)(s|ly|_[a-z0-9_]*)?\b"
find src tracer -name '*.[ch]' ! -name '*_test.c' ! -path '*/test*/*' | sort | xargs grep -niHE "$forbidden" |
    sed -E 's/"([^"\\]|\\.)*"//g' | grep -iE "^[^:]*:[0-9]+:.*$forbidden" | grep -v 'line feed' >"$found" || true
[ ! -s "$found" ] || { cat "$found"; status=1; }
python=$(find python -name '*.py' 2>/dev/null || true)
if [ -n "$python" ] && grep -nE "^ *(def|class) _*($pattern)(_|\b)|\bself\._*($pattern)(_|\b)" $python; then
    status=1
fi

said=$(paste -sd '|' <<<"$words")
# What users read in the program and in its page; digest is a table of a history.
if command -v python3 >/dev/null; then
    python3 "$here/messages.py" | sed -E 's/(tag and|FROM) digest\b//g' | grep -iE "^[^ ]+ .*\b($said)(s|ly)?\b" && status=1
fi

# In pages names of values and of code stand in backticks; a name that is no longer there in these, too.
gone=$(grep -vxE 'usual|unsure|surely' <<<"$words" | paste -sd '|')
pages=$(find README.md docs/*.md docs/start docs/recipes -name '*.md' ! -path docs/glossary.md 2>/dev/null | sort -u)
{
    grep -niHE "\b($said)(s|ly)?\b" $pages | sed -E 's/`[^`]*`//g' | grep -iE "^[^:]*:[0-9]+:.*\b($said)(s|ly)?\b" || true
    grep -nHE "\`(base/|cmd/)?($gone)\`" $pages || true
} | grep -vE '^(README|docs/accuracy)\.md:.*[Dd]isturbance|a claim about runs|acts (of labels|for the user)|newest 8 acts' >"$found" || true
[ ! -s "$found" ] || { cat "$found"; status=1; }
[ $status -eq 0 ] || echo 'docs/glossary.md says what these are called'
exit $status
