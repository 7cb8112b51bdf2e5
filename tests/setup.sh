#!/usr/bin/env bash
# setup.sh where nothing can be installed: it stops, says what is missing by the names of the system, and how to go on.
#
#   setup.sh SOURCE_DIRECTORY
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "$*"
    failed=1
}

# A machine that has a shell and its tools, and no compiler, CMake, package manager or sudo.
mkdir "$work/bin"
for tool in bash env cat cut tr grep sed awk paste dirname id mktemp rm; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done

# says ID ID_LIKE COMMAND TEXT...: on such a system the command fails, and says each of the texts
says() {
    local id=$1 like=$2 command=$3 status=0 said text
    shift 3
    printf 'ID=%s\nID_LIKE="%s"\n' "$id" "$like" >"$work/os-release"
    said=$(env -i PATH="$work/bin" SNAG_OS_RELEASE="$work/os-release" "$source/setup.sh" "$command" 2>&1) || status=$?
    [ $status = 1 ] || fail "$id: status $status"
    for text; do
        [[ $said == *"$text"* ]] || fail "$id, $command: no '$text' in: $said"
    done
    [[ $said != *configuring* ]] || fail "$id: goes on all the same"
}
says debian '' demo 'apt-get install gcc cmake ninja-build pkg-config' libzstd-dev openmpi-bin
says linuxmint 'ubuntu debian' build 'apt-get install gcc cmake ninja-build'
says fedora '' demo 'dnf install gcc cmake ninja-build' libzstd-devel 'spack install gcc cmake ninja' './setup.sh dist'
says rocky 'rhel centos fedora' test 'dnf install gcc cmake ninja-build' libcmocka-devel
says opensuse-leap 'suse opensuse' demo 'zypper install gcc cmake ninja' libyajl-devel
says arch '' build 'pacman -S gcc cmake ninja' jansson
says somethingelse '' demo 'as Debian calls them: gcc cmake ninja-build' 'cmake --preset release'

# The demo asks for nothing that tests need.
packages=$("$source/setup.sh" packages program page demo)
for package in libcmocka-dev libzmq3-dev libpq-dev libopenblas-dev chromium-headless-shell gfortran mpich libmpich-dev libsvm-dev otf2-tools mandoc python3-mpi4py; do
    [[ " $packages " != *" $package "* ]] || fail "the demo installs $package"
    [[ " $("$source/setup.sh" packages) " == *" $package "* ]] || fail "nothing installs $package"
done

# Where all is that stops it, it goes on, and says what else is not here.
for tool in $(awk '$1 ~ /^(program|demo|test)$/ && $2 ~ /^command:/ { sub(/command:/, "", $2); print $2 }' "$source/setup.sh"); do
    ! command -v "$tool" >/dev/null || ln -sf "$(command -v "$tool")" "$work/bin/$tool"
done
if said=$(env -i PATH="$work/bin" "$source/setup.sh" deps 2>&1); then
    [[ $said =~ 'not here: '[^$'\n']*mandoc[^$'\n']*'; tests that need them are skipped' ]] && [[ $said != *command:* ]] ||
        fail "what tests would need is not said: $said"
else
    echo "not tried with what is only missing for some tests: $said"
fi
exit $failed
