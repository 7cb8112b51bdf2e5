# Sourced by the tests that need a Python.
#
#   find_python MODULES [CONDITION] -- the first interpreter, pyenv's last, in which they can be imported, and that
#                                      holds; without one: 3.8 or later

find_python() {
    local name
    for name in python3 /usr/bin/python3 "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3.*/bin/python3; do
        "$name" -c "import sys, $1; sys.exit(not (${2:-sys.version_info >= (3, 8)}))" 2>/dev/null && command -v "$name" && return
    done
    return 1
}
