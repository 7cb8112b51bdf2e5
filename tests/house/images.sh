#!/bin/bash
# images.sh SOURCE -- pictures in documents are there, no other ones are in docs/images, and those of the page are not
# much older than it: at most two weeks before what was last changed of how it looks.
set -eu

cd "$1"
status=0
most_days=14

complain() {
    echo "$*"
    status=1
}

named=$(grep -ohE '!\[[^]]*\]\([^)]*\)' README.md docs/*.md | sed 's/.*(//; s/)$//; s|.*images/||' | sort -u)
[ -n "$named" ] || complain "no pictures found: this test has to follow the documents"
there=$(cd docs/images && ls)
for name in $(comm -23 <(echo "$named") <(echo "$there")); do complain "no such picture: docs/images/$name"; done
for name in $(comm -13 <(echo "$named") <(echo "$there")); do complain "in no document: docs/images/$name"; done

if ! git rev-parse --git-dir >/dev/null 2>&1 || [ "$(git rev-parse --is-shallow-repository)" = true ]; then
    echo "without the history of the repository ages of pictures are not known"
    exit $((status ? status : 77))
fi
changed() { git log -1 --format=%ct -- "$@"; }
page=$(changed web/src/views 'web/src/*.css')
for picture in docs/images/*.png; do
    [ -z "$(git status --porcelain -- "$picture")" ] || continue # is about to be
    days=$(((page - $(changed "$picture")) / 86400))
    [ $days -le $most_days ] || complain "$picture is $days days older than the page: ./setup.sh screenshots"
done
exit $status
