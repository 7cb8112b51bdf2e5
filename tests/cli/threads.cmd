# A run is the same to the byte on 1, 2 and 3 threads, but for when it was made.
printf 'for t in 1 2 3; do mkdir -p $t; (cd $t && SNAG_THREADS=$t snag analyze "$@" --force --quiet --output run.snag >out); done\nfor t in 2 3; do cmp 1/out $t/out && diff -r 1/run.snag/calls $t/run.snag/calls || exit 1; done\nfor t in 1 2 3; do LC_ALL=C sed -E "s/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/DATE/" $t/run.snag/run.db >$t/db; done\ncmp 1/db 2/db && cmp 1/db 3/db && echo same\n' >same.sh

# Seven ranks, of which one is slow at something; executions of several kinds; clocks that disagree.
bash same.sh 'synth:150*step(compute@1ms(a 3*b) 2:io@300us >1 <1 |) 9*step(b) 40*step(compute@1ms(a 4*b) | c);ranks=7;jitter=0.2;slow=compute/15/10/2;skew=5ms;drift=10' --foi step
bash same.sh 'synth:150*step(compute@1ms(a 3*b) 2:io@300us >1 <1 |) 9*step(b) 40*step(compute@1ms(a 4*b) | c);ranks=7;jitter=0.2' --foi step --foi compute --per-call

# Indexes are made when all executions are there; a run has all of them.
snag query 1/run.snag "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'execution' AND sql IS NOT NULL ORDER BY name"

# Ranks that differ for good, teams of threads, a call that takes longer than 32 bits of nanoseconds.
bash same.sh 'synth:100*step(0:a@1ms 1:a@3ms 2:a@1ms work[b@50us 2*c] |) step(a@5s);ranks=3;threads=3;jitter=0.1' --foi step

# Features that need every label, and what the tracer did.
bash same.sh 'synth:150*step(compute@1ms(a 3*b) >1 <1 |) 40*step(compute(b) c);ranks=5;jitter=0.2' --foi step --detector lof --features subtrees
bash same.sh 'synth:150*step(compute@1ms(a 3*b) | FLUSH@2ms c) 3*step(compute(FLUSH b) c FLUSH);ranks=3;jitter=0.2' --foi step
mkdir t && sample_archive t damaged && bash same.sh "$PWD/t" --foi step --foi solve | tail -n 1

# Counters at each enter and leave, and at times of their own; arguments; clocks that are put right.
mkdir c && sample_archive c counted && bash same.sh "$PWD/c" --foi step | tail -n 1 && ls 1/run.snag/calls | grep -c -e readings -e arguments -e texts -e details
