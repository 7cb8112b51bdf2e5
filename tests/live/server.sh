# server.sh -- to be sourced by tests of a job, which have set: snag, and pids=() of what is to be killed in the end.

# as_long_as PID COMMAND...: until the command succeeds; where the process has ended it gets one more chance.
as_long_as() {
    local pid=$1 has_ended=
    shift
    until "$@"; do
        [ -z "$has_ended" ] || { echo "process $pid has ended before: $*"; exit 1; }
        kill -0 "$pid" 2>/dev/null || has_ended=yes
        sleep 0.02
    done
}

number() { tail -n 1 | tr -d ' '; } # the last line that snag query prints

# json FILE NAME: a number of what an instance prints in the end.
json() { tr -d ' ,"' <"$1" | sed -n "s/^$2://p" | head -n 1 | sed 's/^null$/0/'; }

of_server() { "$snag" query "$address" "$1" --format csv | number; }

# server_has QUERY OPERATOR NUMBER
server_has() { [ "$(of_server "$1")" "$2" "$3" ]; }

# server ARGS...: starts one; $address and $server say where and who it is.
server() {
    rm -f said
    "$snag" ps "$@" >said &
    server=$!
    pids+=("$server")
    as_long_as "$server" test -s said
    address=$(head -n 1 said)
}
