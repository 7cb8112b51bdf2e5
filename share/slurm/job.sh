#!/usr/bin/env bash
#SBATCH --job-name=watched
#SBATCH --output=%x-%j.log
#
# A job whose program is watched while it runs: sbatch -N 2 -n 8 job.sh ./app input
#
# Beside the program, a step of the job has a detector on each node and a parameter server on the
# first. What was strange is in snag-JOBID/NODE.store afterwards. The job ends as the program did,
# whatever became of the others.
set -u
here=${SNAG_SLURM:-/usr/local/share/snag/slurm}
snag=${SNAG:-snag}
export SNAG_JOB_DIR=${SNAG_JOB_DIR:-$SLURM_SUBMIT_DIR/snag-$SLURM_JOB_ID}
mkdir -p "$SNAG_JOB_DIR"

# The detectors: a step that shares the processors of the program's.
srun --overlap --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 \
    --cpus-per-task=1 --mem=0 --kill-on-bad-exit=0 \
    "$here/snag-node.sh" run &
detectors=$!
"$here/snag-node.sh" wait || echo "the program runs unwatched" >&2

# The program: each rank tells the detector of its node what it does.
srun ${SNAG_SRUN_OPTIONS:-} bash -c 'exec "$0" record --live "$("$1" socket)" -- "${@:2}"' \
    "$snag" "$here/snag-node.sh" "$@"
status=$?

touch "$SNAG_JOB_DIR/over" # to a step, a signal would reach servers before detectors are done
wait "$detectors"
echo "the program has ended with status $status"
exit "$status"
