#!/usr/bin/env bash
# Two archives of one build are the same to the byte, whenever and by whomever they are made.
#
#   same.sh CMAKE BUILD_DIRECTORY STARTER NAME LIBRARY...   (as dist/make.sh has them)
set -eu
make=$(cd "$(dirname "$0")" && pwd)/../../dist/make.sh
. "$(dirname "$0")/../support/own_directory.sh"
command -v dpkg-query >/dev/null || {
    echo 'skipped: not a Debian system'
    exit 77
}
XZ_LEVEL=0 bash "$make" "$PWD/one" "$@"
sleep 1 # another time in seconds
(umask 077; TZ=Asia/Tokyo LC_ALL=C.UTF-8 XZ_LEVEL=0 bash "$make" "$PWD/two" "$@")
cmp one/*.tar.xz two/*.tar.xz
