snag help
snag --help | cmp - <(snag help) && snag -h | cmp - <(snag help) && snag help help | cmp - <(snag help) && echo same
for word in help man completion version; do snag $word --help; done
snag help info
snag help analyze
snag help list
snag help show
snag help label
snag help next
snag help retrain
snag help evaluate
snag help query
snag help export
snag info --help | cmp - <(snag help info) && snag info -h | cmp - <(snag help info) && echo same
snag analyze --help | cmp - <(snag help analyze) && snag analyze -h | cmp - <(snag help analyze) && echo same
snag list --help | cmp - <(snag help list) && snag list -h | cmp - <(snag help list) && echo same
snag show --help | cmp - <(snag help show) && snag show -h | cmp - <(snag help show) && echo same
snag label --help | cmp - <(snag help label) && snag label -h | cmp - <(snag help label) && echo same
snag next --help | cmp - <(snag help next) && snag next -h | cmp - <(snag help next) && echo same
snag retrain --help | cmp - <(snag help retrain) && snag retrain -h | cmp - <(snag help retrain) && echo same
snag evaluate --help | cmp - <(snag help evaluate) && snag evaluate -h | cmp - <(snag help evaluate) && echo same
snag query --help | cmp - <(snag help query) && snag query -h | cmp - <(snag help query) && echo same
snag export --help | cmp - <(snag help export) && snag export -h | cmp - <(snag help export) && echo same

# The version; lines fit a terminal.
snag --version | sed 's/[0-9.]\+$/N/'
snag version | cmp - <(snag --version) && echo same
snag version --json | sed 's/[0-9.]\+"/N"/'
for c in '' $(snag help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do snag help $c; done | awk 'length($0) > 80'

# What programs that run are read from is in the help of who reads them.
snag ad --help | sed -n '/^SOURCE is/,/^$/p'
snag help watch | grep -c 'tracer:PATH'
snag man ad | grep -c 'tracer:PATH'
