#!/usr/bin/env bash
# The systemd units and shell scripts of share/ are ones: systemd and shellcheck say so, where they are.
#
#   units.sh SOURCE_DIRECTORY BUILD_SHARE
set -u
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 n=0

for script in "$source"/share/slurm/*.sh; do
    bash -n "$script" || failed=1
    [ -x "$script" ] || { echo "$script is not to be run"; failed=1; }
done
if command -v systemd-analyze >/dev/null; then
    for unit in "$build"/systemd/*; do # what is started is not installed: any program will do
        sed 's#^\(Exec[A-Za-z]*=\)[^ ]*/snag #\1/bin/true #; s#^User=.*#User=root#' "$unit" >"$work/$(basename "$unit" | sed 's/@/@x/')"
    done
    for unit in "$work"/*; do
        n=$((n + 1))
        said=$(systemd-analyze verify --man=no "$unit" 2>&1 | grep -F "$work") && { echo "$said"; failed=1; }
    done
    [ $n -eq 4 ] || { echo "$n units"; failed=1; }
fi
if command -v shellcheck >/dev/null; then
    shellcheck -S warning -e SC1090,SC2174 "$source"/share/slurm/*.sh || failed=1
fi
exit $failed
