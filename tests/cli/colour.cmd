#needs script
snag analyze 'synth:9*step(a)' --foi step -o r.snag --quiet >/dev/null
printf '\033[1m' >bold
snag list r.snag --top 1 | grep -c -F -f bold
script -qec 'snag list r.snag --top 1' /dev/null </dev/null | grep -c -F -f bold
NO_COLOR=1 script -qec 'snag list r.snag --top 1' /dev/null </dev/null | grep -c -F -f bold
NO_COLOR= script -qec 'snag list r.snag --top 1' /dev/null </dev/null | grep -c -F -f bold

# A narrow terminal cuts the last column, nothing else does.
script -qec 'stty cols 60; snag list r.snag --all' /dev/null </dev/null | tr -d '\r' | awk '{ gsub(/\033\[[0-9]*m/, ""); gsub(/\342\200\246/, "~"); if (length($0) > 60) print "too wide: " $0 }'
COLUMNS=30 snag list r.snag --top 1 | cmp - <(snag list r.snag --top 1) && echo same
