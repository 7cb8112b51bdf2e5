# Sourced by tests that need several nodes, first of all: makes node1, node2 and node3 of this machine.
#
#   SCRIPT ARGS...    the test itself, which is started again where the nodes are
#   on NODE COMMAND...
#   launch_on KIND N NODES COMMAND...   N processes in turn on "node1,node2"
#   everyone          -> "PID RANK child|parent" of the processes of snag on all nodes
#   agent             a program that is called as ssh is: HOST COMMAND
#   heard NODE        -> bytes that the node got from the others
#   finish_nodes
#
# A node is a network of its own (a virtual cable to a switch) and a host name of its own; files are the
# same for all, as on a shared file system. All of it, and every process, is in namespaces that end with
# the test, however that ends. No packet leaves them.

if [ "${CLUSTER:-}" != inside ]; then
    namespaces=(unshare --mount --net --uts --ipc --pid --fork --kill-child --mount-proc)
    [ "$(id -u)" = 0 ] || namespaces+=(--map-root-user)
    for tool in unshare nsenter ip awk; do
        command -v $tool >/dev/null || { echo "skipped: no nodes without $tool"; exit 77; }
    done
    if ! why=$("${namespaces[@]}" sh -ec '
        ip link add try0 type veth peer name try1
        ip link add try2 type bridge
        mount -t tmpfs none /run' 2>&1); then
        echo "skipped: nodes cannot be made here: $why"
        exit 77
    fi
    CLUSTER=inside exec "${namespaces[@]}" bash "$0" "$@"
fi

. "$(dirname "${BASH_SOURCE[0]}")/launchers.sh"
unset SNAG_ASSIST # there really are several nodes

nodes=(node1 node2 node3)
export nodes_work=$work

# What is left of it if the test is killed is an empty directory.
mount -t tmpfs -o mode=755 none "$work"
mount -t tmpfs -o mode=755 none /run
cd "$work"
leave_nodes() {
    cd /
    umount -l "$work"
    rm -rf "$work"
}
trap leave_nodes EXIT

make_nodes() {
    local i node
    mkdir /run/netns /run/uts
    ip link set lo up
    ip link add switch type bridge
    ip addr add 10.0.0.100/24 dev switch
    ip link set switch up
    echo 127.0.0.1 localhost >hosts
    for i in 1 2 3; do
        node=node$i
        echo 10.0.0.$i $node >>hosts
        ip netns add $node
        ip link add to$i type veth peer name eth0 netns $node
        ip link set to$i master switch up
        ip -n $node addr add 10.0.0.$i/24 dev eth0
        ip -n $node link set eth0 up
        ip -n $node link set lo up
        touch /run/uts/$node
        unshare --uts=/run/uts/$node hostname $node
    done
    mount --bind hosts /etc/hosts
}
make_nodes

on() {
    local node=$1
    shift
    nsenter --net=/run/netns/$node --uts=/run/uts/$node "$@"
}

# Nothing of the environment comes along, as with ssh. Before the command a node may have to do
# something that it alone sees: $work/NODE.sh.
agent=$work/agent
cat >agent <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1 start=$work/\$1.sh
shift
[ -e "\$start" ] || start=/dev/null
exec nsenter --net=/run/netns/\$host --uts=/run/uts/\$host env -i PATH="$PATH" HOME=/ LC_ALL=C unshare --mount sh -c ". \$start; \$*"
END
chmod 755 agent

# Messages between nodes go by TCP: all nodes are one machine, which libraries of MPI notice.
export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 OMPI_MCA_btl=tcp,vader,self OMPI_MCA_pml=ob1
export OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_oob_tcp_if_include=eth0 OMPI_MCA_plm_rsh_agent=$agent

launch_on() {
    local kind=$1 n=$2 hosts=$3
    shift 3
    if [ $kind = mpich ]; then
        on node1 $(launcher_of mpich) -launcher ssh -launcher-exec "$agent" -hosts $hosts -n $n "$@"
    else
        on node1 $(launcher_of open-mpi) --host ${hosts//,/:9,}:9 --map-by node -n $n "$@"
    fi
}

everyone() {
    local pid parent rank kind
    for pid in $(pgrep -f "$SNAG"); do
        [ "$(readlink /proc/$pid/exe)" = "$SNAG" ] && [ -e /proc/$pid/fd/2 ] || continue # not the cleaner
        parent=$(awk '/^PPid:/ {print $2}' /proc/$pid/status)
        kind=parent
        [ "$(readlink /proc/$parent/exe)" != "$SNAG" ] || kind=child
        rank=$(tr '\0' '\n' </proc/$pid/environ | sed -n 's/^\(OMPI_COMM_WORLD\|PMI\)_RANK=//p' | head -n 1)
        echo $pid $rank $kind
    done
}

heard() {
    ip -n $1 -s -o link show eth0 | awk '{for (i = 1; i < NF; i++) if ($i == "RX:") {print $(i + 8); exit}}'
}
