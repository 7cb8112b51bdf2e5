# Sourced by the tests of the package for Python.
#
#   find_python MODULES -- the first interpreter, 3.8 or later, that can import them

find_python() {
    local name
    for name in python3 /usr/bin/python3; do
        "$name" -c "import sys, $1; sys.exit(sys.version_info < (3, 8))" 2>/dev/null && command -v "$name" && return
    done
    return 1
}
