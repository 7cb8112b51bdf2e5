#needs script
#needs pseudo-terminal
snag analyze 'synth:99*step(solve@1ms(sort@0.1ms));slow=solve/7/5' --foi step -o r.snag --quiet >/dev/null
printf '\033[1m' >bold
snag list r.snag --executions --top 1 | grep -c -F -f bold
script -qec 'snag list r.snag --executions --top 1' /dev/null </dev/null | grep -c -F -f bold
NO_COLOR=1 script -qec 'snag list r.snag --executions --top 1' /dev/null </dev/null | grep -c -F -f bold
NO_COLOR= script -qec 'snag list r.snag --executions --top 1' /dev/null </dev/null | grep -c -F -f bold

# A narrow terminal folds the last column, and nothing is lost.
script -qec 'stty cols 80; snag list r.snag --executions --all' /dev/null </dev/null | tr -d '\r' | sed 's/\x1b\[[0-9]*m//g' >folded; awk 'length($0) > 80 { print "too wide: " $0 }' folded
cmp <(tr -s ' \n' '\n' <folded) <(snag list r.snag --executions --all | tr -s ' \n' '\n') && [ $(wc -l <folded) -gt $(snag list r.snag --executions --all | wc -l) ] && echo folded
script -qec 'stty cols 80; snag list r.snag --executions --top 2' /dev/null </dev/null | tr -d '\r' | sed 's/\x1b\[[0-9]*m//g'
COLUMNS=30 snag list r.snag --top 1 | cmp - <(snag list r.snag --top 1) && echo same
