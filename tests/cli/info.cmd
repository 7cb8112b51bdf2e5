# A program said in one line.
snag info 'synth:main(solve(wait) io)'
snag info 'synth:3*step(solve@1ms >1 <1 |);ranks=3'

# An archive, by its file and by its directory.
mkdir t && sample_archive t
snag info t/traces.otf2
snag info t | tail -n +2 | cmp - <(snag info t/traces.otf2 | tail -n +2) && echo same

# Fewer regions, and all.
snag info t --top 2 | sed -n '/^region/,/^$/p'
snag info --top=3 t -q -t 1 | sed -n '/^region/,/^$/p'
snag info 'synth:a b c d e f g h i j k l m n o p q r s t u v w' | grep -c 1.00
snag info 'synth:a b c d e f g h i j k l m n o p q r s t u v w' --all | grep -c 1.00

# Clocks that are 5 ms apart.
snag info 'synth:40*step(solve@1ms >1 <1 |);ranks=3;skew=5ms' | sed -n '2,8p;/^clocks/p;/^count/,/^$/p'

# Nothing on stderr.
snag info t --quiet >/dev/null
snag info t --verbose --threads 2 >/dev/null

# Counters, and arguments of calls.
mkdir c && sample_archive c counted
snag info c | sed -n 2,5p
snag info c --json | jq -c ".counters[], .counter_readings, .arguments, .call_arguments"
