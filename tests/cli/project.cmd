# Points on a plane, kept in the run.
snag analyze 'synth:40*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;slow=c/17/9' --foi step -o t.snag --quiet >/dev/null
snag project t.snag --method pca --features time --foi step --quiet --threads 1 --verbose 2>/dev/null | sed 's/ [0-9.]*$/ .../'
snag project t.snag --method mds --features time --iterations 5 --seed 2 | sed 's/ [0-9.]* after/ ... after/'
snag project t.snag --method tsne --features residual --perplexity 5 --iterations 20 --json | sed 's/"cost": [0-9.]*/"cost": .../'
snag query t.snag 'SELECT method, features, iterations FROM projection_settings ORDER BY method'
snag query t.snag 'SELECT method, count(*), count(DISTINCT x || y) > 100 FROM projection GROUP BY method'
snag project t.snag --method tsne --perplexity 100000 | sed 's/ [0-9.]* after/ ... after/'
snag project t.snag --method none
snag project --help | sed -n 1,3p
snag model --help | sed -n 1,3p
snag score --help | sed -n 1,3p
