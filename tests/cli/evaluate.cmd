#needs jq
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag >/dev/null
printf 'id,label\n#1-7,abnormal\n#2-21,abnormal\n#0-1,normal\n#0-2,normal\n#1-1,normal\n' >labels.csv
snag evaluate t.snag --labels labels.csv
snag evaluate t.snag --labels labels.csv --json
cat labels.csv | snag evaluate t.snag --labels - --quiet --threads 1 --verify

# Other columns, other line ends, quotes, ids with the function.
printf '"note","LABEL","id"\r\n"a, ""b""","Abnormal","step#1-7"\r\n,normal,0-1\r\n' >quoted.csv
snag evaluate t.snag --labels quoted.csv --foi step

# With the worst score first, by hand: normal, abnormal: ROC-AUC 0, PR-AUC 1/2.
printf 'id,label\n#1-7,normal\n#0-1,abnormal\n' >wrong.csv
snag evaluate t.snag --labels wrong.csv --verbose | sed -n 1p

# Labels of another function are not of this one.
snag analyze t --foi step --foi solve -o two.snag >/dev/null
printf 'id,label\nsolve#1-7,normal\nstep#1-7,abnormal\nstep#0-1,normal\n' >both.csv
snag evaluate two.snag --labels both.csv --foi step --json | jq -c '[.abnormal, .normal]'
snag evaluate two.snag --labels both.csv

# So where all are labelled: what one function says of an execution is not said of the other's.
for foi in step solve; do snag export two.snag --foi $foi | tail -n +2 | cut -d, -f1 | sed "s/^.*#/$foi#/; s/\$/,normal/"; done | sed "s/^step\(#[12]-[0-9]\),normal/step\1,abnormal/; s/^solve\(#0-[12]\),normal/solve\1,abnormal/; 1i id,label" >all.csv; cut -d'#' -f1 all.csv | sort | uniq -c
snag evaluate two.snag --labels all.csv --foi step --supervised --json | jq -c '[.abnormal, .normal]'
snag evaluate two.snag --labels all.csv --foi step --simulate 4 --json | jq '.curve | length'

# What is wrong with labels.
snag evaluate t.snag
snag evaluate t.snag --labels nowhere.csv
printf 'id,label\n#1-7,strange\n' | snag evaluate t.snag --labels -
printf 'id,label\n#1-70,normal\n' | snag evaluate t.snag --labels -
printf 'id,label\n7,normal\n' | snag evaluate t.snag --labels -
printf 'id,label\n#1-7\n' | snag evaluate t.snag --labels -
printf 'id,label\n#1-7,normal\n#1-7,abnormal\n' | snag evaluate t.snag --labels -
printf 'id,label\n#1-7,normal\n' | snag evaluate t.snag --labels -
printf 'id,label\n#1-7,abnormal\n' | snag evaluate t.snag --labels -
printf 'id,label\n' | snag evaluate t.snag --labels -
printf 'name,label\n#1-7,normal\n' | snag evaluate t.snag --labels -
printf '' | snag evaluate t.snag --labels -
