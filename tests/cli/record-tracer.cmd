# Under the tracer, which builds with sanitizers do not have: nothing is recorded of what calls no MPI, with places or without
snag record --no-call-sites --tracer serial --output sites true 2>&1 | cut -c 1-28
# a program under it is the one that was named, with its exit status
snag record --live /nowhere/socket --tracer serial -- sh -c 'echo "$SNAG_TRACER_LIVE" "$SNAG_TRACER_ARCHIVE"; exit 5'
snag record --run-id nightly --live /nowhere/socket --tracer serial -- sh -c 'echo "$SNAG_TRACER_RUN_ID"'
