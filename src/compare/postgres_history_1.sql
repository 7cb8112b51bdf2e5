-- A history in PostgreSQL, version 1: the tables of history.sql.

-- Runs in the order they were added.
CREATE TABLE snag_history.run (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    added_s bigint NOT NULL,              -- seconds since 1970
    source  text NOT NULL                 -- the run directory, as it was named then
);

-- What is known of a run: commit, branch, job, node, ...
CREATE TABLE snag_history.tag (
    run   bigint NOT NULL REFERENCES snag_history.run ON DELETE CASCADE,
    key   text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (run, key)
);

-- Its functions of interest. data: sums per call path (history/digest_pack.c), compressed with zstd.
CREATE TABLE snag_history.digest (
    rowid      bigint GENERATED ALWAYS AS IDENTITY, -- SQLite's name for the order in which they were added
    run        bigint NOT NULL REFERENCES snag_history.run ON DELETE CASCADE,
    foi        text NOT NULL,
    ranks      bigint NOT NULL,
    executions bigint NOT NULL,
    anomalies  bigint NOT NULL,
    time_ns    bigint NOT NULL,           -- of all executions
    median_ns  bigint NOT NULL,           -- of their durations
    p99_ns     bigint NOT NULL,
    hash       bigint NOT NULL,           -- of data, to tell a run that is there already
    bytes      bigint NOT NULL,           -- of data before compression
    data       bytea NOT NULL,
    PRIMARY KEY (run, foi)
);
CREATE INDEX ON snag_history.digest (hash);
