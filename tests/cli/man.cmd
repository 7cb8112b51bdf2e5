#needs mandoc
#needs col
#needs script
#needs pseudo-terminal
for c in $(snag help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do snag man $c >snag-$c.1; done
snag man >snag.1; snag man formats >snag-formats.5

# No warnings; the other pages are not installed yet.
mandoc -T lint *.1 *.5 | grep -v 'referenced manual not found'
mandoc -T ascii -O width=78 snag.1 | col -b | sed '$d'
mandoc -T ascii -O width=78 snag-show.1 | col -b | sed '$d'
mandoc -T ascii -O width=78 snag-formats.5 | col -b | sed -n '3,25p;61,71p'

# On a terminal a page is formatted: by man, or without it plain.
mkdir bin; printf '#!/bin/sh\necho "man $*"; head -n 3\n' >bin/man; chmod +x bin/man
script -qec "PATH=$PWD/bin:$PATH snag man list" /dev/null | tr -d '\r'
printf '#!/bin/sh\nexit 16\n' >bin/man
script -qec "PATH=$PWD/bin:$PATH snag man list" /dev/null | tr -d '\r' | sed -n 1,3p
script -qec "PATH=$PWD/bin:$PATH snag man formats" /dev/null | tr -d '\r' | sed -n 1p
