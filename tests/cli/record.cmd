# what belongs together
snag record --once true
snag record --foi f --model m --store s --least 1us --false-alarms 5 --port 1 --listen ::1 --print-tunnel true
snag record --functions --stacks --mpi true
snag record --overhead 2 true
# a trace is never written over
mkdir taken; touch taken/file; snag record --watch --output taken true
# what there is
snag record --tracer fast true
snag record --json --quiet --verbose --threads 1
snag record --help | head -n 4
