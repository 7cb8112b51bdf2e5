#!/usr/bin/env bash
# A PostgreSQL of our own, from the distribution's packages: without a port, as an ordinary user, and
# without fsync and full pages, because what is tested ends processes, not machines.
#
#   server.sh start DIR     make it in DIR if there is none, start it, wait until it answers
#   server.sh stop DIR      end it, wait until it is gone
#   server.sh kill DIR      kill -9 its postmaster, and wait until all of its processes are gone
#   server.sh with COMMAND  start one in a directory that is removed afterwards; run COMMAND with
#                           PGHOST (the socket's directory), PGUSER, PGDATABASE, SNAG_POSTGRES (DIR)
#
# Ends with 77 where there is no PostgreSQL.
set -euo pipefail
self=$(readlink -f "${BASH_SOURCE[0]}")

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
[ -x "$bin/postgres" ] || bin=$(dirname "$(command -v postgres || echo /none/none)")
if [ ! -x "$bin/postgres" ] || [ ! -x "$bin/initdb" ]; then
    echo 'skipped: no PostgreSQL server is installed'
    exit 77
fi

# postgres refuses root
as() {
    if [ "$(id -u)" -eq 0 ]; then
        exec setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@"
    fi
    exec "$@"
}

make() {
    mkdir -p "$1"
    [ "$(id -u)" -ne 0 ] || chown nobody "$1"
    (as "$bin/initdb" -D "$1/data" -U snag -A trust -E UTF8 --locale=C --no-sync) >"$1/initdb.log" 2>&1 || {
        cat "$1/initdb.log" >&2
        exit 1
    }
}

answers() { "$bin/pg_isready" -q -h "$1" -U snag -d postgres; }

# What is left of one that was killed ends by itself, and only then another can begin: so it is
# begun until it runs.
start() {
    [ -d "$1/data" ] || make "$1"
    local pid
    until answers "$1"; do
        (cd / && as "$bin/postgres" -D "$1/data" -k "$1" -F -c full_page_writes=off -c listen_addresses= \
            -c log_min_messages=fatal ${SNAG_POSTGRES_OPTIONS:-}) >>"$1/log" 2>&1 </dev/null &
        pid=$!
        while kill -0 "$pid" 2>/dev/null && ! answers "$1"; do sleep 0.02; done
        kill -0 "$pid" 2>/dev/null || tail -n 3 "$1/log" >"$1/last"
    done
}

postmaster() { head -n 1 "$1/data/postmaster.pid" 2>/dev/null || true; }

gone() { while [ -n "$1" ] && kill -0 "$1" 2>/dev/null; do sleep 0.02; done; }

stop() {
    local pid
    pid=$(postmaster "$1")
    [ -z "$pid" ] || kill -QUIT "$pid" 2>/dev/null || true
    gone "$pid"
}

murder() {
    local pid
    pid=$(postmaster "$1")
    kill -KILL "$pid"
    gone "$pid"
}

with() {
    local dir status=0
    dir=$(mktemp -d /tmp/snag-pg-XXXXXX) # where that user may go, and short enough for a socket
    trap 'stop "'"$dir"'"; rm -rf "'"$dir"'"' EXIT
    start "$dir"
    export PGHOST=$dir PGUSER=snag PGDATABASE=postgres SNAG_POSTGRES=$dir SNAG_POSTGRES_SERVER=$self
    export PATH=$bin:$PATH
    "$@" || status=$?
    exit "$status"
}

case $1 in
start) start "$2" ;;
stop) stop "$2" ;;
kill) murder "$2" ;;
with)
    shift
    with "$@"
    ;;
*) exit 2 ;;
esac
