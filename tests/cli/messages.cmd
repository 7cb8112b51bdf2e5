#needs zstd
# What is the matter, and what to do about it.
snag analyze 'synth:300*step(a b);jitter=0.1' --foi step -o r.snag --quiet | sed -n 1p
snag score 'synth:2*a' --model r.snag -o s.snag
snag score 'synth:2*a' --model none -o s.snag
printf '[{"ph":"X","name":"a","ts":1,"dur":2,"pid":0,"tid":0},\n]' | zstd -q >whole.zst && snag info whole.zst | sed -n 1,3p
head -c 12 whole.zst >cut.zst && snag info cut.zst
printf '\xef\xbb\xbf[{"ph":"X","name":"a","ts":1,"dur":2,"pid":0,"tid":0,"args":{"x":1,},},]' >mark.json && snag info mark.json | sed -n 1,3p
snag export r.snag --what calls -o none/calls.csv
snag export none.snag -o calls.csv; ls calls.csv
snag export r.snag --what calls --format json -o /dev/full
ln -s real.csv link.csv && touch real.csv && snag export r.snag -o link.csv && head -c 15 real.csv && readlink link.csv
snag list r.snag/run.db
snag label r.snag/calls '#0-1=normal'

# What is no run is said to be what it is, by each command in the same words.
snag ad 'replay:synth:300*step(a@1ms b@1ms);slow=a/97/20' --step 0.1 --store here.store --quiet >/dev/null; mkdir empty; touch file
for run in here.store empty file nowhere; do for command in list what-if ranks 'export -o x'; do snag $command $run; done; done
snag compare r.snag here.store; snag compare nowhere r.snag
