#!/usr/bin/env bash
# The documentation as a site, made without a warning, and whole: site.py says what that is.
#
#   site.sh SNAG SOURCE
set -eu
SNAG=$(realpath "$1") SOURCE=$(realpath "$2")
. "$SOURCE/tests/support/find_python.sh"
python=$(find_python sphinx,myst_parser,furo) || {
    echo "skipped: no Python with Sphinx, myst-parser and furo, which ./setup.sh docs installs"
    exit 77
}
. "$SOURCE/tests/support/own_directory.sh"
export PYTHONDONTWRITEBYTECODE=1
"$python" "$SOURCE/docs/site/make.py" "$SNAG" "$SOURCE" "$dir/site"
"$python" "$SOURCE/tests/docs/site.py" "$dir/site" "$SNAG"
