#!/usr/bin/env bash
# Epilog= of slurm.conf: ends what prolog.sh began, and waits until the store is kept. It never
# fails, as prolog.sh.
set -u
file=/run/snag/$SLURM_JOB_ID.${SLURMD_NODENAME:-node}
[ -r "$file" ] || exit 0
pid=$(cat "$file")
rm -f "$file"
kill -TERM "$pid" 2>/dev/null || exit 0
for _ in $(seq "${SNAG_EPILOG_WAIT:-900}"); do # tenths of a second
    kill -0 "$pid" 2>/dev/null || exit 0
    sleep 0.1
done
kill -KILL -- "-$pid" 2>/dev/null
exit 0
