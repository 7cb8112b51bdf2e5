#needs jq
# '-' is standard input, plain or compressed.
printf '[{"ph":"B","pid":0,"tid":0,"ts":1,"name":"main"},{"ph":"X","pid":0,"tid":0,"ts":2,"dur":3,"name":"solve"},{"ph":"E","pid":0,"tid":0,"ts":10}]' >chrome.json
snag info - <chrome.json | sed -n '2,/^$/p'
cat chrome.json | snag analyze - --foi solve --quiet | sed -n '2p;$p'
ls
snag info chrome.json --json | jq -c '[.source, .calls, .end_ns]'

# Results go to stdout, all else to stderr; a reader that leaves early ends us quietly.
snag list trace.snag 2>/dev/null | sed -n 1p
snag list nowhere.snag 2>/dev/null
snag export trace.snag --what calls | sed -n 1p
snag analyze 'synth:5000*step(a b c)' --foi step -o big.snag --quiet >/dev/null
set +o pipefail; snag export big.snag --what calls | head -1
snag list trace.snag >/dev/full
snag info chrome.json >/dev/full
snag --version >/dev/full
snag watch 'synth:30*step(a b)' --once --speed 0 --store none --quiet >/dev/full
