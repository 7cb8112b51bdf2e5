#!/usr/bin/env bash
# The field's words: a bound is MAX_ or MIN_ with what it bounds, and the names that docs/glossary.md has under "not"
# name nothing: no file, and no struct, function, field or variable, alone or before an underscore. No page says them either,
# but where it quotes a value or a name (`unsure`), or what others did to a program (the disturbances of the demo).
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

[ -f docs/glossary.md ] || exit 0
words=$(awk -F'|' '/^\|/ && NF == 6 && $5 !~ /^ *(not|---) *$/ { print $5 }' docs/glossary.md | tr ',' '\n' |
    sed -E 's/^ +| +$//g; /^$/d')
[ -n "$words" ] || { echo 'docs/glossary.md has no names under "not"'; exit 1; }
pattern=$(grep -v ' ' <<<"$words" | paste -sd '|')
status=0
found=$(mktemp)
trap 'rm -f "$found"' EXIT
find src tracer -name '*.[ch]' | grep -E "/($pattern)(_[a-z0-9_]*)?\.[ch]\$" && status=1
# Outside of comments and texts.
for file in $(grep -lE "\b($pattern)(_|\b)" $(find src tracer -name '*.[ch]')); do
    sed -E 's/"([^"\\]|\\.)*"//g' "$file" |
        awk '{ line = $0; while (1) {
                   if (inside) { at = index(line, "*/"); if (!at) { line = ""; break } line = substr(line, at + 2); inside = 0 }
                   at = index(line, "/*"); if (!at) break
                   rest = substr(line, at + 2); end = index(rest, "*/")
                   if (end) line = substr(line, 1, at - 1) substr(rest, end + 2)
                   else { line = substr(line, 1, at - 1); inside = 1; break }
               } print NR ":" line }' |
        { grep -E "\b(struct |enum )?($pattern)_[a-z]|\bstruct ($pattern)\b" || true; } | sed "s|^|$file:|"
done >"$found"
[ ! -s "$found" ] || { cat "$found"; status=1; }
python=$(find python -name '*.py' 2>/dev/null || true)
if [ -n "$python" ] && grep -nE "^ *(def|class) _*($pattern)(_|\b)|\bself\._*($pattern)(_|\b)" $python; then
    status=1
fi

# In pages names of values and of code stand in backticks; a name that is no longer there in these, too.
said=$(paste -sd '|' <<<"$words")
gone=$(grep -vxE 'usual|unsure|surely' <<<"$words" | paste -sd '|')
for page in README.md docs/*.md $(find docs/start docs/recipes -name '*.md' 2>/dev/null | sort); do
    [ "$page" = docs/glossary.md ] && continue
    sed -E 's/`[^`]*`//g' "$page" | grep -niE "\b($said)(s|ly)?\b" | sed "s|^|$page:|" || true
    grep -nE "\`(base/|cmd/)?($gone)\`" "$page" | sed "s|^|$page:|" || true
done | grep -vE '^(README|docs/accuracy)\.md:.*[Dd]isturbance|a claim about runs|acts (of labels|for the user)|newest 8 acts' >"$found" || true
[ ! -s "$found" ] || { cat "$found"; status=1; }
[ $status -eq 0 ] || echo 'docs/glossary.md says what these are called'
exit $status
