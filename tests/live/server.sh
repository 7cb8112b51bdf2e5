# server.sh -- to be sourced by tests of a job, which have set: snag, and pids=() of what is to be killed in the end.

# server ARGS...: starts one; $address and $server say where and who it is.
server() {
    rm -f said
    "$snag" ps "$@" >said &
    server=$!
    pids+=("$server")
    until [ -s said ]; do
        kill -0 "$server" 2>/dev/null || { echo "snag ps $* has ended"; exit 1; }
        sleep 0.01
    done
    address=$(head -n 1 said)
}
