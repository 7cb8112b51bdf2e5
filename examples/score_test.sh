#!/bin/bash
# score_test.sh BUILD -- disturb-score on a hand-made truth and hand-made incidents:
#
#     time    1000    2000    3000    4000    5000    6000
#     truth   stop 1---       load 0          stop 2
#     found    c1 rank 1      c2 rank 3       c3
#
# With --top 2 the third is not found, but has a place. Of two that fit the first one counts.
set -eu

build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/truth.csv" <<'TRUTH'
kind,rank,start_ns,end_ns
stop,1,1001000,1002000
load,0,1003000,1003500
stop,2,1005000,1005500
stop,0,1007000,1007500
TRUTH
cat >"$dir/incidents" <<'CANDIDATES'
{"id": 7, "foi": "step", "rank": 1, "index": 4, "begin_ns": 1500, "end_ns": 2300, "why": "a \"rank\": 9, {"}
{"why": ["rank", {"rank": 5}], "rank":3,"thread":0,"begin_ns":2.9e3,"end_ns":3100}
{"head": "#2-0", "rank": 2, "lost_ns": 1500000, "begin_ns": 5300, "end_ns": 1005300, "why": "x"}
{"rank": 2, "begin_ns": 5500, "end_ns": 5510}
{"rank": 1, "begin_ns": 1600, "end_ns": 1700}
CANDIDATES
"$build/disturb-score" --top 2 --show 3 "$dir/truth.csv" "$dir/incidents" 1000000 >"$dir/result"
diff - "$dir/result" <<'RESULT'
   1                0.0 ms lost  while disturbed: stop of rank 1, 0.0 ms
      a "rank": 9, {
   2                0.0 ms lost  while disturbed: load of rank 0, 0.0 ms
   3  #2-0          1.5 ms lost  while disturbed: stop of rank 2, 0.0 ms
      x

      kind  rank       at s      ms    place
   1  stop     1      0.000     0.0        1
   2  load     0      0.000     0.0        2, on rank 3
   3  stop     2      0.000     0.0        3  not found
   4  stop     0      0.000     0.0        3  not found, on rank 2
2 of 4 disturbances are among the first 2 of 5 incidents
  stop: 1 of 3, 1 on the disturbed rank, 0 only on one that waited
  load: 1 of 1, 0 on the disturbed rank, 1 only on one that waited
2 of these 2 incidents overlap a disturbance
RESULT
