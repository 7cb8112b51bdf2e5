# what belongs together
snag record --once true
snag record --foi f --model m --store s --store-limit 5 --spool d --spool-limit 5 --least 1us --short all --false-alarms 5 --port 1 --listen ::1 --print-tunnel true
for i in '--least 1us' '--short all' '--false-alarms 5' '--store-limit 5' '--spool d' '--spool-limit 5' --print-tunnel; do snag record $i true; done
SNAG_FOI=f SNAG_MODEL=m SNAG_STORE=s SNAG_PORT=1 SNAG_LISTEN=::1 snag record; SNAG_OUTPUT=there snag record --live socket
snag record --functions --stacks --mpi true
snag record --overhead 2 true
snag record --sample often true
snag record --sample 200Hz --mpi true
# a trace is never written over
mkdir taken; touch taken/file; snag record --watch --output taken true
# what there is
snag record --tracer fast true
snag record --json --quiet --verbose --threads 1
snag record --help | sed -n 1,4p
snag record --live socket --output there true
# what an earlier one left
snag record --finish nowhere
snag record --finish nowhere true
snag record --finish nowhere --output there; SNAG_OUTPUT=there snag record --finish nowhere
mkdir -p empty/traces.unfinished; snag record --finish empty
mkdir -p other/traces.unfinished; echo other >other/traces.unfinished/0; snag record --quiet --finish other
