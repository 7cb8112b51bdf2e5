# Sourced, after in_root.sh: root directories of Debian's suites, made by debootstrap, for tests that need root.
#
#   $roots                       where they are: SNAG_ROOTS, or in the cache of the user. Remove them when they are no longer
#                                wanted. DEBIAN_MIRROR is where packages come from, if that is not debootstrap's own choice.
#   fresh_root SUITE DIRECTORY   a minimal system of the suite, anew, that reaches its packages; status 1: cannot be had
#   as_root ROOT COMMAND...      in_root, as root
#   say TEXT...
#   quietly COMMAND...           what it says is shown only if it fails
roots=${SNAG_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/snag/roots}
[ "$(id -u)" -eq 0 ] || skip 'that needs root'
command -v debootstrap >/dev/null || skip 'debootstrap is not installed'
mkdir -p "$roots"

say() { printf '== %s\n' "$*"; }

quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    [ $status -eq 0 ] || tail -n 30 "$log"
    rm -f "$log"
    return $status
}

as_root() {
    local environment="HOME=/root DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    in_root_environment="$environment ${in_root_environment:-}" in_root_as --userspec=0:0 "$@"
}

fresh_root() {
    local suite=$1 root=$2 base=$roots/$1.tar
    if [ ! -e "$base" ]; then
        rm -rf --one-file-system "$root"
        mkdir -p "$root"
        quietly debootstrap --variant=minbase "$suite" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} || return 1
        tar -C "$root" -cf "$base.part" . && mv "$base.part" "$base"
    fi
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    tar -C "$root" -xf "$base"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
}
