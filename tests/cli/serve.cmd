#needs jq
#needs curl
snag analyze 'synth:50*step(solve@1ms);slow=solve/7/5' --foi step -o t.snag >/dev/null
snag serve --help | sed -n 1p
# Until it is told to stop.
snag serve t.snag --listen 127.0.0.2 --port 0 --print-tunnel --author me --quiet --verbose --threads 1 >said & until grep -qs ssh said; do sleep 0.05; done; sed "s/:[0-9]*\/$/:PORT\//; s/-L .* .*/-L TUNNEL HOST/" said; kill $!; wait $!
snag serve t.snag --port 0 --json >first & until grep -qs http first; do sleep 0.05; done; curl -s "$(jq -r .url first)healthz"; kill $!; wait $!
# Runs to compare, or a history of them.
snag analyze 'synth:50*step(compute@2ms);seed=2' --foi step -o u.snag >/dev/null
snag history add h.db t.snag u.snag --tag branch=main >/dev/null
snag serve --base t.snag u.snag --rename solve=compute --foi step --least 2% --verify --port 0 --json >second & until grep -qs http second; do sleep 0.05; done; curl -s "$(jq -r .url second)api/v1/comparison" | jq -r .headline; kill $!; wait $!
snag serve --base h.db u.snag --rename solve=compute --last 2 --tag branch=main --port 0 --json >third & until grep -qs http third; do sleep 0.05; done; curl -s "$(jq -r .url third)api/v1/comparison/runs" | jq -c '.runs[]'; kill $!; wait $!
# What cannot be served.
snag serve t.snag --last 3 --port 0
snag serve t.snag --rename a=b --port 0
snag serve h.db --tag branch=main --port 0
snag serve t.snag t.snag
snag serve t.snag missing.snag
snag serve t.snag u.snag --base missing.db
snag serve missing.snag
snag serve t.snag --listen example.org
snag serve t.snag --port 65536
snag serve t.snag --port 1 --listen 192.0.2.1 2>&1 | sed 's/: [A-Z].*//'
