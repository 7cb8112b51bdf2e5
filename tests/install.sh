#!/usr/bin/env bash
# What is installed is where other programs look for it, and works from there.
#
#   install.sh CMAKE BUILD_DIRECTORY
set -eu
cmake=$1 build=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

"$cmake" --install "$build" --prefix "$prefix" >/dev/null
cd "$prefix"
bin/snag --version
for page in snag $(bin/snag help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/snag-\1/p'); do
    [ -s share/man/man1/$page.1 ] || {
        echo "share/man/man1/$page.1 is missing"
        exit 1
    }
done
bin/snag completion bash | cmp - share/bash-completion/completions/snag
bin/snag completion zsh | cmp - share/zsh/site-functions/_snag
bin/snag completion fish | cmp - share/fish/vendor_completions.d/snag.fish
bin/snag man show | cmp - share/man/man1/snag-show.1
bin/snag man formats | cmp - share/man/man5/snag-formats.5

for file in slurm/snag-node.sh slurm/job.sh slurm/prolog.sh slurm/epilog.sh slurm/task-prolog.sh; do
    [ -x share/snag/$file ] || {
        echo "share/snag/$file is not to be run"
        exit 1
    }
done
for file in prometheus/snag.rules.yml grafana/snag.json logrotate/snag systemd/snag-ps.service systemd/snag-ad@.service \
    systemd/snag-keep@.service systemd/snag-keep@.timer; do
    [ -s share/snag/$file ] || {
        echo "share/snag/$file is missing"
        exit 1
    }
done
grep -q "^ExecStart=/.*/bin/snag ps " share/snag/systemd/snag-ps.service

# With all pages there, nothing is left to complain of.
if command -v mandoc >/dev/null; then
    cd share/man
    mandoc -T lint man1/*.1 | grep -v 'referenced manual not found' && exit 1
    for reference in $(sed -n 's/^\.Xr \([a-z-]*\) 1.*/\1/p; s/^\.It Xr snag\\-\([a-z-]*\) 1/snag-\1/p' man1/*.1); do
        [ -s "man1/$reference.1" ] || {
            echo "a page refers to $reference(1), which is not there"
            exit 1
        }
    done
fi
find . -type f | wc -l
