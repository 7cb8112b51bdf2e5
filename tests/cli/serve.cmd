#needs jq
#needs curl
snag analyze 'synth:50*step(solve@1ms);slow=solve/7/5' --foi step -o t.snag >/dev/null
snag serve --help | head -n 1
# Until it is told to stop.
snag serve t.snag --listen 127.0.0.2 --port 0 --print-tunnel --author me --quiet --verbose --threads 1 >said & until grep -qs ssh said; do sleep 0.05; done; sed "s/:[0-9]*\/$/:PORT\//; s/-L .* .*/-L TUNNEL HOST/" said; kill $!; wait $!
snag serve t.snag --port 0 --json >url & until grep -qs http url; do sleep 0.05; done; curl -s "$(jq -r .url url)healthz"; kill $!; wait $!
# What cannot be served.
snag serve missing.snag
snag serve t.snag --listen example.org
snag serve t.snag --port 65536
snag serve t.snag --port 1 --listen 192.0.2.1 2>&1 | sed 's/: [A-Z].*//'
