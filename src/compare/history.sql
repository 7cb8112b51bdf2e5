-- A history: what is kept of many runs, to compare with. One SQLite file, read by `snag history` and
-- `snag query HISTORY 'SELECT ...'`. Times are nanoseconds.

-- What the file is: format.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

-- Runs in the order they were added.
CREATE TABLE run (
    id      INTEGER PRIMARY KEY,
    added_s INTEGER NOT NULL,           -- seconds since 1970
    source  TEXT NOT NULL               -- the run directory, as it was named then
);

-- What is known of a run: commit, branch, job, node, ...
CREATE TABLE tag (
    run   INTEGER NOT NULL REFERENCES run,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, key)
) WITHOUT ROWID;

-- Its functions of interest. data: sums per call path (history/digest_pack.c), compressed with zstd.
CREATE TABLE digest (
    run        INTEGER NOT NULL REFERENCES run,
    foi        TEXT NOT NULL,
    ranks      INTEGER NOT NULL,
    executions INTEGER NOT NULL,
    anomalies  INTEGER NOT NULL,
    time_ns    INTEGER NOT NULL,        -- of all executions
    median_ns  INTEGER NOT NULL,        -- of their durations
    p99_ns     INTEGER NOT NULL,
    hash       INTEGER NOT NULL,        -- of data, to tell a run that is there already
    bytes      INTEGER NOT NULL,        -- of data before compression
    data       BLOB NOT NULL,
    UNIQUE (run, foi)
);
