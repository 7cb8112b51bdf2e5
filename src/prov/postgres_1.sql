-- A provenance store in PostgreSQL, version 1: what SQLite's shards have (prov_schema.sql), with the
-- run in every key. Times are nanoseconds. id is the number of a row in its run, as it was put:
-- sending it twice is harmless.

-- Which database this is: spools name it.
CREATE TABLE snag.store (
    id    text PRIMARY KEY DEFAULT replace(gen_random_uuid()::text, '-', ''),
    one   boolean NOT NULL UNIQUE DEFAULT true CHECK (one)
);
INSERT INTO snag.store DEFAULT VALUES;

-- Who has written: each opening of the store is a run of its own.
CREATE TABLE snag.run (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    program  bigint NOT NULL,
    rank     bigint,                      -- NULL: all
    began_ns bigint NOT NULL,             -- since 1970, as the others here
    run_id   text NOT NULL,               -- of the job: alike in all that writes of it
    ended_ns bigint,                      -- all its rows are here; NULL: it goes on, or was killed
    stored   bigint NOT NULL DEFAULT 0    -- rows up to this id are here, or will never be
) WITH (fillfactor = 50);

-- Names of functions; id is XXH3-64 of the name.
CREATE TABLE snag.function (
    id   bigint PRIMARY KEY,
    name text NOT NULL
);

CREATE SEQUENCE snag.record_nr;

-- Calls and executions; partitions record_0, record_1, ... have 256 runs each.
CREATE TABLE snag.record (
    run           bigint NOT NULL,
    id            bigint NOT NULL,
    nr            bigint NOT NULL DEFAULT nextval('snag.record_nr'), -- in the order stored
    is_normal     bigint NOT NULL,
    program       bigint NOT NULL,
    rank          bigint NOT NULL,
    thread        bigint NOT NULL,
    step          bigint NOT NULL,
    idx           bigint NOT NULL,
    fid           bigint NOT NULL,
    function      bigint NOT NULL,
    enter_ns      bigint NOT NULL,
    leave_ns      bigint NOT NULL,
    inclusive_ns  bigint NOT NULL,
    exclusive_ns  bigint NOT NULL,
    score         double precision,
    p             double precision,
    severity_ns   bigint NOT NULL,
    model_version bigint NOT NULL,
    is_gpu        bigint NOT NULL,
    execution     double precision,       -- of a function of interest: its index; NULL: it is a call
    calls         double precision,
    messages      double precision,
    is_pruned     bigint,                 -- the final model's verdict; NULL: not asked yet
    final_score   double precision,
    final_p       double precision,
    data          bytea NOT NULL,         -- all of the record: zstd, see prov_record.h
    stored_ns     bigint NOT NULL,        -- when it was put into the store, since 1970
    PRIMARY KEY (run, id)
) PARTITION BY RANGE (run);
ALTER TABLE snag.record ALTER COLUMN data SET STORAGE EXTERNAL; -- it is compressed

CREATE TABLE snag.cost_row (
    run          bigint NOT NULL,
    program      bigint NOT NULL,
    rank         bigint NOT NULL,
    step         bigint NOT NULL,
    idx          bigint NOT NULL,
    is_execution bigint NOT NULL,
    cost_ns      bigint NOT NULL,
    is_bound     bigint NOT NULL,
    id           bigint NOT NULL,
    PRIMARY KEY (run, program, rank, step, idx, is_execution)
) PARTITION BY RANGE (run);

CREATE TABLE snag.metadata_row (
    run       bigint NOT NULL,
    id        bigint NOT NULL,
    program   bigint NOT NULL,
    rank      bigint NOT NULL,
    thread    bigint NOT NULL,
    descr     text NOT NULL,
    value     text NOT NULL,
    stored_ns bigint NOT NULL,
    PRIMARY KEY (run, id)
);

CREATE TABLE snag.func_stats_row (
    run       bigint NOT NULL,
    program   bigint NOT NULL,
    fid       bigint NOT NULL,
    name      text NOT NULL,
    calls     bigint NOT NULL,
    anomalies bigint NOT NULL,
    exclusive json NOT NULL,
    inclusive json NOT NULL,
    severity  json NOT NULL,
    score     json NOT NULL,
    id        bigint NOT NULL,
    PRIMARY KEY (run, program, fid)
);

CREATE TABLE snag.counter_stats_row (
    run     bigint NOT NULL,
    program bigint NOT NULL,
    counter text NOT NULL,
    stats   json NOT NULL,
    id      bigint NOT NULL
);
-- a name may be longer than an index takes
CREATE UNIQUE INDEX counter_stats_row_key ON snag.counter_stats_row (run, program, md5(counter));

CREATE TABLE snag.ad_model_row (
    run       bigint NOT NULL,
    version   bigint NOT NULL,
    program   bigint NOT NULL,
    fid       bigint NOT NULL,
    name      text NOT NULL,
    algorithm text NOT NULL,
    stats     json NOT NULL,
    data      bytea NOT NULL,
    id        bigint NOT NULL,
    PRIMARY KEY (run, version, program, fid)
);
