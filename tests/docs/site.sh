#!/usr/bin/env bash
# The documentation as a site, made without a warning, and whole: site.py says what that is. In a browser, where there is
# one: web/e2e/site.mjs.
#
#   site.sh SNAG SOURCE COPY
#
#   COPY  of web/, with its modules, if the page was built
set -eu
SNAG=$(realpath "$1") SOURCE=$(realpath "$2") copy=$3
. "$SOURCE/tests/support/find_python.sh"
python=$(find_python sphinx,myst_parser,furo) || {
    echo "skipped: no Python with Sphinx, myst-parser and furo, which ./setup.sh docs installs"
    exit 77
}
. "$SOURCE/tests/support/own_directory.sh"
export PYTHONDONTWRITEBYTECODE=1
"$python" "$SOURCE/docs/site/make.py" "$SNAG" "$SOURCE" "$dir/site"
"$python" "$SOURCE/tests/docs/site.py" "$dir/site" "$SNAG"
[ -d "$copy/node_modules" ] || {
    echo "not looked at in a browser: the page was not built, there is no npm"
    exit 0
}
cd "$copy"
node e2e/site.mjs "$dir/site" || [ $? -eq 77 ]
