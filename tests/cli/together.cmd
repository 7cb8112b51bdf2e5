# One process, without a launcher: --together changes nothing, and is not part of what the run says of itself.
snag analyze 'synth:100*step(compute@1ms(a 3*b) >1 <1 |);ranks=3;jitter=0.2;slow=compute/15/10/2' --foi step --together -o together.snag --quiet
snag analyze 'synth:100*step(compute@1ms(a 3*b) >1 <1 |);ranks=3;jitter=0.2;slow=compute/15/10/2' --foi step -o alone.snag --quiet >alone
diff -r together.snag/calls alone.snag/calls && echo same
snag compare together.snag alone.snag >one
snag compare --together together.snag alone.snag >two
cmp one two && echo same
snag query together.snag "SELECT value FROM meta WHERE key = 'command'"
snag info 'synth:2*a;ranks=3' --together | sed -n 1,2p
snag model save alone.snag step.model
snag score 'synth:100*step(compute@1ms(a 3*b) >1 <1 |);ranks=3;jitter=0.2' --model step.model --together -o score.snag --quiet | sed -n 1,3p

# Under a launcher whose MPI it was built without, or that is half there. It ends by a signal: launchers notice that.
export OMPI_COMM_WORLD_RANK=0; snag analyze --together 'synth:2*a' -o half.snag --foi a --quiet | sed -n 1p
mkdir elsewhere && cp "$(command -v snag)" elsewhere/ && export PMI_RANK=0 PMI_SIZE=2; elsewhere/snag info --together synth:a 2>&1 | sed "s/ ([^)]*)//"
export OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2; elsewhere/snag analyze --together synth:a -o none.snag 2>&1 | sed "s/ ([^)]*)//"
ls -A | grep none
