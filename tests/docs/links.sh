#!/usr/bin/env bash
# All links among the pages of the repository lead somewhere: links.py.
#
#   links.sh SOURCE
set -eu
command -v python3 >/dev/null || {
    echo "skipped: no python3"
    exit 77
}
exec python3 "$(dirname "$0")/links.py" "$1"
