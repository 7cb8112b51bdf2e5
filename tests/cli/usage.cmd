# Each is one line that says what is wrong, and exit status 2.
snag lst
snag frobnicate
snag --frobnicate
snag list
snag list a.snag b.snag
snag show a.snag
snag list a.snag --tpo 3
snag list a.snag --frobnicate
snag label a.snag --top 3
snag label a.snag --fro x
snag list a.snag -z
snag list a.snag -az
snag list a.snag --labels x
snag list a.snag --ver
snag list a.snag --top
snag list a.snag -n
snag list a.snag --top ''
snag list a.snag --top 0
snag list a.snag --top -1
snag list a.snag --top 1x
snag list a.snag --top 99999999999999999999
snag list a.snag --rank -1
snag list a.snag --all=yes
snag list a.snag --verdict odd
snag list a.snag --verdict ''
snag list a.snag --verdict 'anomaly|normal'
snag list a.snag --verdict anom
snag analyze synth:a --seed x
snag analyze synth:a --seed 18446744073709551616
snag analyze synth:a --threshold 1,5
snag analyze synth:a --detector
snag analyze synth:a --detector magic
snag info 'synth:a('
snag info 'synth:'
snag info 'synth:a;ranks=0'
snag info 'synth:a;what=1'
snag info synth:a -- --json
snag help lst
snag help list show
snag man lst
snag completion
snag completion tcsh
snag completion bash zsh
snag version 2
snag man list show

# Without anything: the overview, on stderr.
snag 2>/dev/null
snag 2>&1 | sed -n 1p
