#!/usr/bin/env bash
# The house checks can fail: each finds what is planted in a small tree, and nothing before.
#
#   planted.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/good # what is planted is planted there
failed=0

# finds CHECK TEXT: the check fails and says TEXT; with no text: it passes.
expect() {
    local check=$1 text=${2:-} said status=0
    said=$("$here/$check" "$root" 2>&1) || status=$?
    if [ -z "$text" ] && [ $status -ne 0 ]; then
        echo "$check does not pass a good tree: $said"
        failed=1
    elif [ -n "$text" ] && { [ $status -eq 0 ] || [[ $said != *"$text"* ]]; }; then
        echo "$check did not say '$text' but '$said', status $status"
        failed=1
    fi
}

# plant FILE LINE...: a file with these lines.
plant() {
    local file=$root/$1
    mkdir -p "${file%/*}"
    shift
    printf '%s\n' "$@" >"$file"
}

# A folder of src/ and what it uses.
folder() {
    plant "src/$1/CMakeLists.txt" "add_module($1" "  USES ${*:2}" '  SOURCES a b)'
    echo "add_subdirectory($1)" >>"$root/src/CMakeLists.txt"
}

make_tree() {
    plant src/base/CMakeLists.txt 'add_module(base' '  SOURCES err)'
    plant src/CMakeLists.txt 'add_subdirectory(base)'
    folder stack base
    folder forest stack
    folder detect base
    folder run forest
    folder explain base
    folder cmd run detect
    cp "$here/../../.clang-format" "$root"
    plant src/stack/calls.c '#include "stack/calls.h"' '#include "base/err.h"' '#include <math.h>'
    plant src/cmd/main.c '#include "forest/forest.h"' '#include "run/rundir.h"'
    plant src/stack/source_test.c '#include "stack/calls.h"' '' '#include "test.h"'
}
make_tree
root=$work/tree
mkdir "$root"

good_tree() {
    rm -rf "${root:?}"/*
    cp -r "$work/good/." "$root"
}

good_tree
expect layers.sh
expect sizes.sh

good_python() {
    good_tree
    plant python/README.md '| `_library.py` | the library |' '| `_run.py` | runs |'
    plant python/snag/_library.py 'import ctypes'
    plant python/snag/_run.py 'from ._library import load' 'from . import _library'
}
good_python
expect layers.sh
expect sizes.sh
plant python/snag/_library.py 'import ctypes' 'from ._run import Run'
expect layers.sh 'python/snag/_library.py:2: may not import "_run"'
plant python/snag/_other.py 'import os'
expect layers.sh 'python/snag/_other.py: is not in python/README.md'
good_python
plant python/snag/_run.py 'class Run:' '    def long(self):' "$(seq -f '        x = %g' 61)" '    def short(self):' '        pass'
expect sizes.sh 'python/snag/_run.py:2: 61 lines:     def long(self):'
plant python/snag/_run.py 'def long():' "$(seq -f '    x = %g' 60)" 'y = 1'
expect sizes.sh
plant python/snag/_run.py "x = '$(printf '%0100d' 0)'"
expect format.sh 'python/snag/_run.py:1: x'
good_tree

plant src/stack/up.c '#include "forest/forest.h"'
expect layers.sh 'src/stack/up.c:1: stack/ may not include "forest/forest.h"'
good_tree
plant src/explain/aside.c '// a comment' ' # include "detect/lof.h"'
expect layers.sh 'src/explain/aside.c:2: explain/ may not include "detect/lof.h"'
good_tree
plant src/news/news.c ''
expect layers.sh 'folder news/ is not in src/CMakeLists.txt'
good_tree
folder early late
folder late base
expect layers.sh 'early uses late, which comes after it'
good_tree
plant src/base/err.c '#include "test.h"'
expect layers.sh 'src/base/err.c:1: only tests include from tests/: "test.h"'

good_tree
plant src/base/calls.c ''
expect sizes.sh 'the name calls.c is used by src/base/calls.c src/stack/calls.c'
good_tree
plant src/base/file.c $(seq 900)
expect sizes.sh
plant src/base/file.c $(seq 901)
expect sizes.sh 'src/base/file.c: more than 900 lines'
plant src/base/file.c 'int f(void)' '{' $(seq 60) '}'
expect sizes.sh
plant src/base/file.c 'int f(void)' '{' $(seq 61) '}'
expect sizes.sh 'src/base/file.c:2: 61 lines: int f(void)'

good_tree
expect output.sh
plant src/cmd/cmd_list.c '    printf("%s\n", name);'
expect output.sh 'cmd_list.c:1'

# faults NAME OLD: a list with one fault, and a build with one test.
faults() {
    mkdir -p "$root/tests/faults"
    cp "$here/../faults/run.py" "$root/tests/faults"
    plant tests/faults/tests '' "== release $1: what it breaks" src/stack/calls.c "-$2" '+#include "stack/other.h"'
    plant tests/faults/audit '' '== what it breaks' src/stack/calls.c '-#include <math.h>' '+#include <float.h>'
    plant build/CTestTestfile.cmake 'add_test(stack/calls true)' 'add_test(stack/slow true)' \
        'set_tests_properties(stack/slow PROPERTIES LABELS elsewhere)'
}
if command -v python3 >/dev/null; then
    good_tree
    faults stack/calls '#include "stack/calls.h"'
    expect faults.sh
    faults stack/calls '#include "stack/gone.h"'
    expect faults.sh '0 times in src/stack/calls.c: #include "stack/gone.h"'
    faults stack/calls '#include '
    expect faults.sh '3 times in src/stack/calls.c'
    faults stack/gone '#include "stack/calls.h"'
    expect faults.sh 'stack/gone: there is no such test'
    faults stack/slow '#include "stack/calls.h"'
    expect faults.sh 'leaves it out of release: elsewhere'
fi

good_tree
plant src/base/file.c '#define MOST_BYTES 7'
expect words.sh 'src/base/file.c:1'

mkdir -p "$root/docs"
glossary() { plant docs/glossary.md '| word | meaning | in code | not |' '|---|---|---|---|' "| lock file | says who writes | \`lock_file\` | $1 |"; }
good_tree
glossary claim
plant src/base/file.c 'const char *text = "claim_it";' 'int reclaim_it;'
expect words.sh
plant src/base/file.c 'struct claim;'
expect words.sh 'src/base/file.c:1:struct claim;'
if command -v python3 >/dev/null; then
    for text in '"%s: nobody claims it"' '"the lock" " is the claim" " of a process"'; do
        plant src/base/file.c "int rc = err_set($text);"
        expect words.sh 'src/base/file.c:1: '
    done
    plant src/base/file.c ''
    plant web/src/page.tsx '// who claims it' 'return (' '    <p class="a claim">' '        {name} has' '        no {claim}' '    </p>' ');'
    expect words.sh
    for text in '        no {name}, it claims' '        <b title={`nobody claims ${name}`}>'; do
        plant web/src/page.tsx '<p>' '    {name}' "$text" '</p>'
        expect words.sh 'web/src/page.tsx:'
    done
    rm "$root/web/src/page.tsx"
fi
plant src/base/file.c '/* a' ' */ int claim_take(void);'
expect words.sh 'src/base/file.c:2'
plant src/base/file.c '/* Who' ' * claims it. */'
expect words.sh 'src/base/file.c:2'
good_tree
plant src/base/file.c 'struct walk {' '    int at;' '};'
plant src/stack/file.c 'struct walk *walk;' 'enum walk_kind {' '};'
expect words.sh
plant src/stack/file.c 'static const enum walk {' '} walk;'
expect words.sh 'walk: src/base/file.c:1 and src/stack/file.c:1'
good_tree
glossary claim
plant src/base/claim.h ''
expect words.sh 'src/base/claim.h'
glossary ''
expect words.sh 'no names under "not"'

readme() { plant src/base/README.md $(seq "$1") "\`err.c\` and \`$2\`"; }
rm -rf "${root:?}"/*
plant src/base/err.c 'int err_set(int code);'
readme 9 'err_set(7)'
expect readmes.sh
readme 9 err_get
expect readmes.sh 'src/base/README.md names err_get'
readme 8 err_set
expect readmes.sh 'has 9 lines'
row() { plant src/base/README.md $(seq 9) "| to change | $1 |"; }
plant src/base/other.c 'int other_set(void);'
row '`err_set` in `err.c`'
expect readmes.sh
row '`other_set`'
expect readmes.sh
row '`other_set` in `err.c`'
expect readmes.sh 'src/base/README.md:10: other_set is in none of the files of its row'
row '`err_set` in `serve/err.c`'
expect readmes.sh 'src/base/README.md:10: there is no serve/err.c'
rm "$root/src/base/README.md"
expect readmes.sh 'src/base/ has no README.md'

good_tree
plant src/base/file.h '/*' ' * file_read -- all of it.' ' *   size  out' ' */'
plant src/base/other.h '/*' ' * other_read -- all of it. size  out' ' */'
expect format.sh 'src/base/other.h:2'
good_tree
plant src/base/file.h '/*' " *   size  $(printf 'bytes of it %.0s' $(seq 6)) and of" ' * what follows' ' */'
expect format.sh 'src/base/file.h:3'
good_tree
if "$here/format.sh" "$root" >/dev/null 2>&1; then
    plant src/base/file.c 'int  f( void );'
    expect format.sh 'src/base/file.c:1'
fi
good_tree
plant docs/a.md '# A' '[b](b.md#the-b-of-it-1), `[code](c.md)`' '' '    [code](c.md)'
plant docs/b.md '# The B of *it*' '## The `B` of it'
expect ../docs/links.sh
plant docs/a.md '# A' '[b](b.md#the-c)'
expect ../docs/links.sh 'docs/b.md has no heading #the-c'
plant docs/a.md '# A' '[`b`](c.md)'
expect ../docs/links.sh 'there is no docs/c.md'

exit $failed
