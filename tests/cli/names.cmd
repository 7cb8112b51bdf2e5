# Names that hold lines, as TAU's and PyTorch's do, are the same functions in the next build.
build() { printf '['; for i in $(seq 40); do printf '{"ph":"X","name":"train.py(%d): main","ts":%d,"dur":90,"pid":0},{"ph":"X","name":"void f(int) [{a.cpp} {%d,1}-{%d,1}]","ts":%d,"dur":%d,"pid":0},' $1 $((100 * i)) $1 $(($1 + 9)) $((100 * i + 5)) $((40 + i % 3)); done; }; build 10 >one.json; build 12 >two.json
snag analyze one.json --foi 'train.py(10): main' -o one.snag --quiet | sed -n 1p
snag model save one.snag one.model --quiet | cut -c 1-60
snag score two.json --model one.model -o two.snag --quiet | sed -n 2,3p
snag compare one.snag two.snag --quiet | sed -n 1p
snag analyze two.json --foi 'train.py(12): main' -o two.snag --force --quiet >/dev/null; snag model save one.snag two.snag both.model
for n in one two; do snag analyze $n.json --foi f -o f_$n.snag --quiet >/dev/null; done; snag model save f_one.snag f_two.snag f.model
snag model save one.snag f_two.snag no.model --foi f
snag analyze two.json --foi 'void f(int) [{a.cpp} {10,1}-{19,1}]' -o f.snag --quiet | sed -n 2p

# A history has them as they were shown in each run, and knows them by what stays.
for n in 1 2 3; do sed "s/(10): main/(1$n): main/g; s/:90,/:9$n,/g; s/void f(int) .{a.cpp} {10,1}-{19,1}./a::Box<int>::run/g; s/^./&{\"ph\":\"X\",\"name\":\"a::Box<char>::run\",\"ts\":0,\"dur\":1,\"pid\":0},/" one.json >night$n.json; snag analyze night$n.json --foi "train.py(1$n): main" --foi 'Box<int>::run' -o night$n.snag --quiet >/dev/null; done
snag history add n.db night1.snag night2.snag night3.snag >/dev/null; snag history show n.db --foi 'train.py(12): main' | sed -n '1s/ from.*//p'
for f in 'train.py(12): main' 'Box<int>::run' 'Box<char>::run'; do snag compare n.db --foi "$f" | sed -n 1,2p; snag compare --base n.db night3.snag --foi "$f" | sed -n 1,2p; done
snag model save n.db n.model --foi 'train.py(12): main'
snag compare n.db

# Two that would be called the same are shown longer; as --foi each is the one.
printf '[{"ph":"X","name":"a::Box<int>::run(int)","ts":0,"dur":1,"pid":0},{"ph":"X","name":"a::Box<char>::run(int)","ts":2,"dur":1,"pid":0},{"ph":"X","name":"main::{lambda(int)#1}::operator()(int) const","ts":4,"dur":1,"pid":0}' >box.json
snag info box.json | grep -- --foi
snag analyze box.json --foi 'Box<char>::run' -o box.snag --quiet | sed -n 1p
snag analyze box.json --foi 'Box::run' -o both.snag --quiet | grep -c ': 1 execution'

printf '[{"ph":"X","name":"it'"'"'s","ts":0,"dur":1,"pid":0}]' >quoted.json; eval "snag analyze quoted.json -o quoted.snag --quiet $(snag info quoted.json | sed -n 's/^  \(--foi .*\)/\1/p')" | sed -n 2p

# Nothing there, nothing like it, text of another kind.
snag list one.snag --foi step
: >empty.json; snag info empty.json
: >empty.otf2; snag info empty.otf2
snag info - </dev/null
printf '[{}]' | iconv -f UTF-8 -t UTF-16 >wide.json; snag info wide.json

# Each process of a launcher does the whole work, unless told to share it: the first says so.
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 snag info 'synth:2*a' | sed -n 1p
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 snag info 'synth:2*a' | sed -n 1p
PMI_RANK=0 PMI_SIZE=2 snag info 'synth:2*a' --quiet | sed -n 1p
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 snag info 'synth:2*a' | sed -n 1p
