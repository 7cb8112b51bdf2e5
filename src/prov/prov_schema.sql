-- shard-NNNN.db: a part of a provenance store. One SQLite file (WAL) per shard; a record is in the
-- shard of its rank modulo their number. `snag query STORE` joins them and has microseconds and
-- Chimbuko's names; here, times are nanoseconds. Scores grow with strangeness.

-- format, shard (its number), shards (how many there are).
CREATE TABLE IF NOT EXISTS meta (
    key   TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

-- Who has written: each opening of the store is a run of its own, of a program or of one rank of
-- it. In shard 0 only; its id is in every row that the run wrote.
CREATE TABLE IF NOT EXISTS run (
    id            INTEGER PRIMARY KEY, -- from 1
    program       INTEGER NOT NULL,
    rank          INTEGER,             -- NULL: all
    began_ns      INTEGER NOT NULL,    -- since 1970, as the others here
    run_id        TEXT NOT NULL,       -- of the job: alike in all that writes of it
    ended_ns      INTEGER,             -- NULL: it goes on, or was killed
    backed_up_ns  INTEGER,             -- all of it is in a backup since then
    dropped_ns    INTEGER              -- its rows were dropped; this one stays, so that no id comes again
);

-- Names of functions.
CREATE TABLE IF NOT EXISTS function (
    id            INTEGER PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE
);

-- Calls: the strange ones, and normal ones to compare them with.
CREATE TABLE IF NOT EXISTS record (
    id            INTEGER PRIMARY KEY, -- in the order in which they were stored
    run           INTEGER NOT NULL,
    is_normal     INTEGER NOT NULL,
    program       INTEGER NOT NULL,
    rank          INTEGER NOT NULL,
    thread        INTEGER NOT NULL,
    step          INTEGER NOT NULL,
    idx           INTEGER NOT NULL,    -- number of the call in its run, rank and step
    fid           INTEGER NOT NULL,
    function      INTEGER NOT NULL,
    enter_ns      INTEGER NOT NULL,
    leave_ns      INTEGER NOT NULL,
    inclusive_ns  INTEGER NOT NULL,
    exclusive_ns  INTEGER NOT NULL,
    score         REAL,
    p             REAL,
    severity_ns   INTEGER NOT NULL,
    model_version INTEGER NOT NULL,
    is_gpu        INTEGER NOT NULL,
    execution     INTEGER,             -- of a function of interest: its INDEX; NULL: it is a call
    calls         INTEGER,             -- inside an execution
    messages      INTEGER,
    is_pruned     INTEGER,             -- another verdict by the final model; NULL: not asked yet
    final_score   REAL,
    final_p       REAL,
    data          BLOB NOT NULL,       -- all of the record: zstd, see prov_record.h
    stored_ns     INTEGER NOT NULL     -- when it was put into the store, since 1970
);

-- What a strange call cost the program, once that is known: of the record of the same run and name.
-- No row: it is not known.
CREATE TABLE IF NOT EXISTS cost_row (
    run           INTEGER NOT NULL,
    program       INTEGER NOT NULL,
    rank          INTEGER NOT NULL,
    step          INTEGER NOT NULL,
    idx           INTEGER NOT NULL,
    is_execution  INTEGER NOT NULL,
    cost_ns       INTEGER NOT NULL,
    is_bound      INTEGER NOT NULL,    -- it cost at most that
    PRIMARY KEY (run, program, rank, step, idx, is_execution)
) WITHOUT ROWID;

-- Expressions, because the views over all shards have microseconds.
CREATE INDEX IF NOT EXISTS record_program ON record (program);
CREATE INDEX IF NOT EXISTS record_place ON record (rank, thread, enter_ns / 1000.0);
CREATE INDEX IF NOT EXISTS record_function ON record (function);
CREATE INDEX IF NOT EXISTS record_entry ON record (enter_ns / 1000.0);
CREATE INDEX IF NOT EXISTS record_exit ON record (leave_ns / 1000.0);
CREATE INDEX IF NOT EXISTS record_score ON record (score);
CREATE INDEX IF NOT EXISTS record_severity ON record (severity_ns / 1000.0);
CREATE INDEX IF NOT EXISTS record_step ON record (step);

-- What the program said of itself.
CREATE TABLE IF NOT EXISTS metadata_row (
    run           INTEGER NOT NULL,
    program       INTEGER NOT NULL,
    rank          INTEGER NOT NULL,
    thread        INTEGER NOT NULL,
    descr         TEXT NOT NULL,
    value         TEXT NOT NULL,
    stored_ns     INTEGER NOT NULL
);

-- Of a run; in shard 0 only. Statistics are JSON: count, accumulate, minimum, maximum, mean,
-- stddev, skewness, kurtosis, in microseconds.
CREATE TABLE IF NOT EXISTS func_stats_row (
    run           INTEGER NOT NULL,
    program       INTEGER NOT NULL,
    fid           INTEGER NOT NULL,
    name          TEXT NOT NULL,
    calls         INTEGER NOT NULL,
    anomalies     INTEGER NOT NULL,
    exclusive     TEXT NOT NULL,
    inclusive     TEXT NOT NULL,
    severity      TEXT NOT NULL,       -- of the anomalies
    score         TEXT NOT NULL,
    PRIMARY KEY (run, program, fid)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS counter_stats_row (
    run           INTEGER NOT NULL,
    program       INTEGER NOT NULL,
    counter       TEXT NOT NULL,
    stats         TEXT NOT NULL,
    PRIMARY KEY (run, program, counter)
) WITHOUT ROWID;

-- What judged: a sketch of the durations of a function, once per version of the model.
CREATE TABLE IF NOT EXISTS ad_model_row (
    run           INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    program       INTEGER NOT NULL,
    fid           INTEGER NOT NULL,
    name          TEXT NOT NULL,
    algorithm     TEXT NOT NULL,
    stats         TEXT NOT NULL,
    data          BLOB NOT NULL,       -- zstd of what the detector packed
    PRIMARY KEY (run, version, program, fid)
);
