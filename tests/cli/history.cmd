#needs jq
# Six runs, then six that take longer in one function.
for i in 1 2 3 4 5 6; do snag analyze "synth:50*step(pack@1ms solve@4ms);jitter=0.02;seed=$i" --foi step -o r$i.snag --quiet >/dev/null; done
for i in 7 8 9 10 11 12; do snag analyze "synth:50*step(pack@1ms solve@5ms);jitter=0.02;seed=$i" --foi step -o r$i.snag --quiet >/dev/null; done
for i in 1 2 3 4 5 6 7 8 9 10 11; do GITHUB_SHA=c$i GITHUB_REF_NAME=main CI_COMMIT_SHA= snag history add n.db r$i.snag --tag node=n$((i % 2)) --tag branch=; done
snag history add n.db r3.snag
snag history add n.db r12.snag --json | jq -c .
snag history list n.db --json | jq -c '[.number, .run, .foi, .ranks, .executions, .tags, (.median_ns <= .p99_ns), (.time_ns / .executions / 1e6 | round)]'
snag history list n.db --last 2 --tag node=n1 | sed 's/20[-0-9]* [0-9:]*/WHEN            /'

# It changed with number 7, in one path.
snag history show n.db --json | jq -c '.foi, (.runs | length), (.series[] | [.path, [.changes[] | [.number, .index, (.after_ns / .before_ns * 20 | round), .chance < 0.01]]])'
snag history show n.db --path 'step > solve' --top 5 | sed 's/from [-0-9]* to [-0-9]*/from WHEN to WHEN/'
snag history show n.db --format csv --all | sed -n 1,2p | sed 's/^20[-0-9T:Z]*/WHEN/; s/,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*$/,TIMES/'
snag history show n.db --last 5 --foi step | tail -n 1

# What is compared with a history; a run that is in it is not compared with itself.
snag compare n.db --json | jq -c .runs
snag compare n.db --last 5 --json | jq -c '.runs, .verdict != "slower"'
snag compare --base n.db --last 5 r12.snag --json | jq -c .runs
snag compare --base n.db --last 1 r12.snag --json | jq -c .runs
snag compare --base n.db --last 2 r11.snag r12.snag --json | jq -c .runs
snag compare --base n.db r12.snag --json 2>/dev/null | jq -c .runs
snag compare --base n.db --tag node=n1 --last 4 r12.snag --json 2>/dev/null | jq -c .runs
snag compare --base n.db --foi other r12.snag
snag compare --base n.db --tag node=none r12.snag

# Traces are analysed for it.
snag compare 'synth:50*step(pack@1ms solve@4ms);jitter=0.02' 'synth:50*step(pack@1ms solve@5ms);jitter=0.02;seed=2' --foi step --seed 3 --json | jq -c '.verdict, .paths[0].path'
snag compare r1.snag nothing.otf2

# A file of limits.
printf '# limits of the gate\n50%%\nstep > solve:500us  # of the kernel\n' >limits
snag compare r1.snag r8.snag --fail-on @limits --json | jq -c .limits
snag compare r1.snag r8.snag --fail-on @limits >/dev/null
snag compare r1.snag r8.snag --fail-on @nothing

# Less of it; and what is none.
snag query n.db 'SELECT run, foi, executions, hash IS NOT NULL AS has_hash FROM digest WHERE run < 3'
snag query n.db 'DELETE FROM run'
snag history prune n.db --number 3
snag history prune n.db --number 3
snag history prune n.db --keep 4 --tag node=n1; snag history prune n.db --keep 4 --last 2; snag history list n.db --keep 4; snag history list n.db --json | jq -s length
snag history prune n.db --keep 4 --json --quiet --verbose --threads 1
snag history --help | sed -n 1p
snag history list n.db --json | jq -c .number
snag history prune n.db
snag history show r1.snag
snag history list nothing.db
snag history add limits r1.snag
snag history look n.db
snag history add n.db --tag x r1.snag
# what the trace says of its run is a tag, too; what is said here counts more
mkdir t && sample_archive t && snag analyze t/traces.otf2 --foi step -o t.snag --quiet >/dev/null; echo $?
snag history add t.db t.snag --tag 'Recorded By=somebody'
snag history list t.db --json | jq -c .tags

# Of so few runs a change cannot be told from chance: that is said, and what they look like.
for i in 1 2 3 4 5 6 7 8; do snag analyze "synth:60*step(solve@$((i < 5 ? 2 : 20))ms);jitter=0.02;seed=$i" --foi step -o few$i.snag --quiet >/dev/null; snag history add few.db few$i.snag >/dev/null; done
snag history show few.db | tail -n 4
snag history show few.db --last 3 | tail -n 1
snag history show few.db --json | jq -c '.notes, .seems_changed.index'
snag analyze 'synth:60*step(solve@20ms);jitter=0.02;seed=9' --foi step -o few9.snag --quiet >/dev/null
snag compare --base few.db few9.snag --fail-on 5% | sed -n '/^snag\|^limit/p'
snag compare --base few.db --last 4 few9.snag --fail-on 5% | sed -n '/^snag\|^limit/p'
snag history prune few.db --number 6 && snag history prune few.db --number 7 && snag history prune few.db --number 8 && snag history show few.db | tail -n 1
