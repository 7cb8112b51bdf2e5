#needs jq
# Three kinds: a is slow on rank 1, some steps call more on ranks 0 and 2, one phase is in another order on rank 3.
echo 'synth:main(100*step(a@1ms b(c d)) 0:step(a@1ms b(c d) 9*extra) 2:step(a@1ms b(c d) 9*extra) 1:step(a@20ms b(c d)) 3:step(a@1ms b(d c)) 200*step(a@1ms b(c d)) 0:step(a@1ms b(c d) 9*extra) 2:step(a@1ms b(c d) 9*extra) 1:step(a@20ms b(c d)) 3:step(a@1ms b(d c)) 1:step(a@20ms b(c d)) 100*step(a@1ms b(c d)));ranks=4;jitter=0.1' >kinds
snag analyze "$(cat kinds)" --foi step -o kinds.snag --quiet
snag list kinds.snag --groups
snag list kinds.snag --groups --json | jq -c '[.id, .what, .ranks, .members, .abnormal]'
snag list kinds.snag --groups --rank 2
snag show kinds.snag '#0-301' | grep '^group'

# One act labels a group, as it is; what is learnt from it is of all of them.
snag label kinds.snag group=2=normal --author me
snag label kinds.snag --json | jq -r .id | sort
snag list kinds.snag --groups --json | jq -c '[.id, .abnormal, .normal]'
snag retrain kinds.snag --quiet | tail -n 1
snag list kinds.snag --groups
snag retrain kinds.snag --undo --quiet >/dev/null; snag list kinds.snag --groups --json | jq -c .id

# What is said wrong.
snag label kinds.snag group=9=normal
snag label kinds.snag group=x=normal
snag label kinds.snag group=1=odd
snag list kinds.snag --groups --executions

# Each function of interest numbers its groups from 1: --foi says of which one is.
snag analyze 'synth:120*step(a@1ms) 120*walk(b@1ms);jitter=0.05;slow=a/40/20;slow=b/31/20' --foi step --foi walk -o two.snag --quiet >/dev/null
snag list two.snag --groups; snag list two.snag --groups --foi walk; snag list two.snag | grep '^group'
snag label two.snag group=1=normal
snag label two.snag group=1=normal --foi walk --author me; snag label two.snag --json | jq -r .id
