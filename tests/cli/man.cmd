#needs mandoc
#needs col
for c in info analyze list show label next retrain evaluate query export; do snag man $c >snag-$c.1; done
snag man >snag.1

# No warnings; the other pages are not installed yet.
mandoc -T lint *.1 | grep -v 'referenced manual not found'
mandoc -T ascii -O width=78 snag.1 | col -b | sed '$d'
mandoc -T ascii -O width=78 snag-show.1 | col -b | sed '$d'
