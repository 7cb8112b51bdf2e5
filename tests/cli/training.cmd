# A training job: a file per rank, each of which says its rank.
rank() { printf '{"schemaVersion":1,"distributedInfo":{"rank":%d,"world_size":2},"traceEvents":[' $1; }; step() { printf '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","ts":%d,"dur":90,"pid":9,"tid":9},{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":%d,"dur":40,"pid":9,"tid":9},' $1 ${1}00 ${1}10; }; sum() { printf '{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32(x)","ts":%d,"dur":%d,"pid":0,"tid":20,"args":{"Collective name":"allreduce","In msg nelems":%d,"Out msg nelems":%d,"dtype":"Float","Process Group Name":"0","Group size":2}},' $@; }; for r in 0 1; do (rank $r; for i in 1 2 3; do step $i; sum ${i}${r}0 $((30 - 10 * r)) 16 16; done; echo ']}') >worker$r.pt.trace.json; done
gzip worker1.pt.trace.json; mkdir job; mv worker* job; ls job
snag info job
snag info job/worker1.pt.trace.json.gz job/worker0.pt.trace.json | sed -n 2,4p
snag info 'job/*0.pt*' | sed -n 2,4p
snag analyze job -o job.snag --threads 1 | sed -n 1,3p
snag query job.snag 'SELECT value FROM meta WHERE key = "trace"' | sed 's|/.*/|/|'

# What is no such trace.
mkdir none; snag info none
cp job/worker0.pt.trace.json job/again.json; snag info job

# JSON lines, and no rank anywhere.
mkdir lines; for r in 1 2; do for i in 0 1 2 3; do echo '{"id":'$i',"name":"read","cat":"POSIX","pid":'$r',"tid":1,"ts":'$((10 * i))',"dur":4,"ph":"X","args":{"fname":"x"}}'; done | gzip >lines/app-$r.pfw.gz; done
snag info lines | sed -n 1,3p

# What belongs together is said by rules.
printf '[{"ph":"X","name":"put","ts":0,"dur":2,"pid":0,"args":{"to":1,"n":5}},{"ph":"X","name":"get","ts":1,"dur":4,"pid":1,"args":{"n":5}}]' >put.json
printf '# LABEL WHAT NAME KEYS\nm send put to n\nm receive get rank n\n' >rules
snag info put.json --links rules | sed -n 2,3p
snag info put.json --links rules --json | jq -c '.links, .recvs, .quality'
snag analyze put.json --links rules --foi put -o put.snag | sed -n 2p
snag model save put.snag put.model 2>&1; snag score put.json --model put.model --links rules -o again.snag | sed -n 1p
printf 'm sends put\n' >rules; snag info put.json --links rules
snag info synth:a --links rules
