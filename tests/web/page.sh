#!/usr/bin/env bash
# The page's own tests, in the copy of web/ that the build made.
#
#   page.sh COPY SNAG check|test|case [NAME...]
#
# check: types and format. test: its logic. case: of e2e/*_case.mjs in Chromium, against snag
# serve on a run made here. 77 when npm's modules or Chromium are not here.
set -eu
copy=$1 snag=$2 what=$3
shift 3

if [ ! -d "$copy/node_modules" ]; then
    echo "the page was not built: there is no npm"
    exit 77
fi
cd "$copy"
case $what in
check) exec npm run --silent check ;;
test) exec node test.mjs ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$snag" analyze 'synth:200*step(compute@1ms(a 3*b) >1 <1 |);ranks=4;jitter=0.1;slow=compute/67/9/2' \
    --foi step -o "$work/run.snag" --quiet >/dev/null
export SNAG=$snag SNAG_RUN=$work/run.snag
export SNAG_DATA=${SNAG_DATA:-$(cd "$(dirname "$0")/../.." && pwd)/../shared/data}
node e2e/run.mjs "$@"
