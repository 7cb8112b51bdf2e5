# A program of which MPI's calls alone are known: a set-up, 200 steps of which each tenth also writes, and an end.
echo "synth:MPI_Init MPI_Bcast 20*ten(9*step(work@1ms >1 <1 |) step(work@1ms >1 <1 | MPI_Gather)) MPI_Finalize;ranks=3;jitter=0.1;slow=work/50/9/1" >program
export SNAG_MPI_ONLY=1; snag info "$(cat program)" | sed -n '/suggest/,$p'
export SNAG_MPI_ONLY=1; snag info "$(cat program)" --json | jq -c '.suggestions[0] | {foi, kind, why}'
export SNAG_MPI_ONLY=1; snag analyze "$(cat program)" -o loop.snag | grep -v '^written'
snag list loop.snag --verify --json --all | jq -s 'group_by(.rank) | map(length)' -c
snag query loop.snag "SELECT name, kind, calls, outermost, locations FROM region WHERE kind = 'loop'"

# By its name, and the best.
export SNAG_MPI_ONLY=1; snag analyze "$(cat program)" -o named.snag --foi loop@MPI_Send --quiet | grep executions
export SNAG_MPI_ONLY=1; snag analyze "$(cat program)" -o best.snag --foi loop --quiet | grep executions

# It computes before each barrier, and so not after the last: that is no shorter step.
export SNAG_MPI_ONLY=1; snag analyze 'synth:MPI_Init 100*step(work@1ms |) MPI_Finalize;ranks=4;jitter=0.05' -o before.snag --quiet | grep executions

# Where a function is as good, it is taken; the loop can be asked for.
snag analyze "$(cat program)" -o functions.snag --quiet | grep executions
snag analyze "synth:main($(printf 'a@1ms b@2ms %.0s' {1..50}))" -o m.snag --foi loop --quiet | grep executions
snag analyze 'synth:main(a b c d e)' -o none.snag --foi loop --quiet

# Loops in each other are all inserted, the outer one first; of those that cross one keeps its iterations.
export SNAG_MPI_ONLY=1; snag analyze 'synth:60*step(4*k(w@1ms >1 <1) |);ranks=4;jitter=0.1' --foi '/loop/' -o all.snag 2>&1 | grep -E '^loop@|left out'
