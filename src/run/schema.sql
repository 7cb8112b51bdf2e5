-- run.db: what snag found in a trace. One SQLite file (WAL), read by `snag query RUN 'SELECT ...'`.
-- Times are nanoseconds since the start of the trace. Scores grow with strangeness.

-- What the run is: format, trace, source, snag, created, begin_ns, end_ns, ticks_per_s,
-- origin_ticks, n_calls, n_messages, ...
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

-- Streams of events: threads of ranks. id is the index in calls/.
CREATE TABLE location (
    id              INTEGER PRIMARY KEY,
    rank            INTEGER NOT NULL,
    thread          INTEGER NOT NULL,   -- 0 is the master
    name            TEXT NOT NULL,
    source_id       TEXT NOT NULL,      -- as the trace calls it
    node            TEXT NOT NULL,      -- where it ran; '' when the trace does not say
    is_gpu          INTEGER NOT NULL,   -- a stream of a GPU, below the threads that launch what runs there
    records         INTEGER NOT NULL,   -- read from the trace
    calls           INTEGER NOT NULL,
    sends           INTEGER NOT NULL,
    recvs           INTEGER NOT NULL,
    collectives     INTEGER NOT NULL,
    first_ns        INTEGER,
    last_ns         INTEGER,
    clock_offset_ns INTEGER NOT NULL,   -- added to its times, by estimate
    clock_drift     REAL NOT NULL       -- and so many ns per ns
);

-- Named pieces of code. id is what calls/region.u32 holds.
CREATE TABLE region (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    short_name   TEXT NOT NULL,
    kind         TEXT NOT NULL,         -- user, mpi, openmp, runtime, tracer, loop; gpu: only streams of a GPU run it
    calls        INTEGER NOT NULL,
    outermost    INTEGER NOT NULL,      -- calls that are not inside another of the same region
    inclusive_ns INTEGER NOT NULL,      -- of the outermost calls
    exclusive_ns INTEGER NOT NULL,      -- of all calls
    min_ns       INTEGER,               -- inclusive, of the outermost calls
    max_ns       INTEGER,
    variation    REAL NOT NULL,         -- their standard deviation over their mean
    locations    INTEGER NOT NULL,      -- on which it is called
    file         TEXT,                  -- of its source code, and where it begins in there
    line         INTEGER,               -- NULL, both: not known
    critical_ns  INTEGER                -- own time while the critical path is there; NULL: not known
);

CREATE TABLE comm (
    id      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL,
    members INTEGER NOT NULL
);

-- What the trace says of the run: the command line, libraries, compilers, nodes.
CREATE TABLE metadata (
    key   TEXT NOT NULL,
    value TEXT NOT NULL,   -- several rows where processes say different things
    PRIMARY KEY (key, value)
) WITHOUT ROWID;

-- What was wrong with the trace, see docs/formats.md. location is NULL for its definitions.
CREATE TABLE quality (
    kind      TEXT NOT NULL,
    location  INTEGER REFERENCES location,
    count     INTEGER NOT NULL,
    is_damage INTEGER NOT NULL,
    text      TEXT NOT NULL
);

-- Functions of interest and how their executions were judged.
CREATE TABLE foi (
    id              INTEGER PRIMARY KEY,
    name            TEXT NOT NULL UNIQUE,  -- as it is printed in front of #RANK-INDEX
    region          INTEGER NOT NULL REFERENCES region,
    trees           INTEGER NOT NULL,
    vertices        INTEGER NOT NULL,
    messages        INTEGER NOT NULL,      -- sends plus receives inside the trees
    unique_subtrees INTEGER NOT NULL,
    max_depth       INTEGER NOT NULL,      -- vertices on the longest path
    features        TEXT NOT NULL,
    detector        TEXT NOT NULL,
    threshold       REAL,                  -- a score above it is an anomaly; NULL: none is
    settings        TEXT NOT NULL,         -- JSON: everything that influenced the scores
    anomalies_cost_ns  INTEGER,            -- what the run would be shorter without all of them
    anomalies_carrying INTEGER             -- so many of them carry nine tenths of that
);

-- What is usual, per function of interest: the contexts of the residual detector, packed
-- (features/residual.c) and compressed with zstd.
CREATE TABLE model (
    foi   INTEGER PRIMARY KEY REFERENCES foi,
    bytes INTEGER NOT NULL,         -- before compression
    data  BLOB NOT NULL
);

-- Trained stack2vec models, packed (features/stack2vec.c) and compressed with zstd: what
-- needs the vectors again infers them. One per settings that were trained with.
CREATE TABLE embedding (
    foi      INTEGER NOT NULL REFERENCES foi,
    settings TEXT NOT NULL,         -- JSON: dimensions, epochs, learning_rate, negatives
    bytes    INTEGER NOT NULL,      -- before compression
    data     BLOB NOT NULL,
    PRIMARY KEY (foi, settings)
);

-- One row per execution of a function of interest.
CREATE TABLE execution (
    foi         INTEGER NOT NULL REFERENCES foi,
    tree        INTEGER NOT NULL,   -- position in the forest: by location, then time
    location    INTEGER NOT NULL REFERENCES location,
    rank        INTEGER NOT NULL,
    thread      INTEGER NOT NULL,
    idx         INTEGER NOT NULL,   -- number on its location, from 0
    call        INTEGER NOT NULL,   -- row of its root among the calls of its location
    enter_ns    INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    tracer_ns   INTEGER NOT NULL,   -- of that, taken by the tracer
    usual_ns    INTEGER NOT NULL,   -- what executions with the same calls on this rank take
    lost_ns     INTEGER NOT NULL,   -- duration_ns - tracer_ns - usual_ns where that is more than noise, else 0
    open_ns     INTEGER,            -- it was open when the events of its location ended; the run went on for so long
    off_ns      INTEGER NOT NULL DEFAULT 0, -- by which duration_ns may be off: estimated begin, end
    vertices    INTEGER NOT NULL,
    messages    INTEGER NOT NULL,
    score       REAL NOT NULL,      -- by the detector, or by what was learnt from labels since
    verdict     TEXT NOT NULL,      -- anomaly, normal
    detector_score   REAL NOT NULL, -- as it was analysed
    detector_verdict TEXT NOT NULL,
    false_alarm_probability REAL NOT NULL, -- that chance alone makes its time so strange, <=; 1: nothing known
    time        REAL NOT NULL,      -- the measures of the residual detector, docs/algorithms.md
    gross       REAL NOT NULL,
    structure   REAL NOT NULL,
    size        REAL NOT NULL,
    part        TEXT NOT NULL,      -- what says most: time, gross, structure, size; short: it took less
    why         TEXT NOT NULL,      -- one sentence
    cause       TEXT,               -- of anomalies that lost time, or do not end: the chain across ranks, where there is one
    incident    INTEGER,            -- the one it is part of, or NULL
    cost_ns     INTEGER,            -- what the run would be shorter without what it lost; NULL: not known
    cost_is_bound INTEGER NOT NULL DEFAULT 0, -- it is at most that
    cost        TEXT,               -- the same in words, and who waited
    PRIMARY KEY (foi, tree)
) WITHOUT ROWID;
CREATE INDEX execution_incident ON execution (foi, incident) WHERE incident IS NOT NULL;
CREATE INDEX execution_strange ON execution (foi, enter_ns) WHERE verdict = 'anomaly';
CREATE INDEX execution_alone ON execution (foi) WHERE incident IS NULL AND verdict = 'anomaly';

-- Disturbances: executions that were strange together (docs/algorithms.md, section 14).
CREATE TABLE incident (
    foi        INTEGER NOT NULL REFERENCES foi,
    id         INTEGER NOT NULL,  -- from 1, those that lost most first
    score      REAL NOT NULL,     -- what its executions say together
    is_costly  INTEGER NOT NULL,  -- it matters even where none of them is an anomaly
    begin_ns   INTEGER NOT NULL,
    end_ns     INTEGER NOT NULL,
    lost_ns    INTEGER NOT NULL,  -- over what is usual, summed over its executions
    head       INTEGER NOT NULL,  -- tree of the execution it goes back to
    location   INTEGER NOT NULL REFERENCES location, -- where its cause is; of head: nobody else is to blame
    rank       INTEGER NOT NULL,
    executions INTEGER NOT NULL,
    ranks      INTEGER NOT NULL,  -- locations they are on
    turns      INTEGER NOT NULL,  -- 1, or it comes back so often,
    period     INTEGER NOT NULL,  -- in every so manieth execution of the head's location; or 0
    cost_ns    INTEGER,           -- what the run would be shorter without all that they lost; NULL: not known
    cost_least_ns INTEGER,        -- ... without what their cause alone lost; NULL: as below
    cost_most_ns INTEGER,         -- ... at most, as cost_ns where that is known; NULL: nobody knows
    causes     INTEGER NOT NULL,  -- ranks to which about as much of it goes back as to rank
    why        TEXT NOT NULL,
    cause      TEXT NOT NULL,     -- that in short
    PRIMARY KEY (foi, id)
) WITHOUT ROWID;
-- What heads of incidents, and of their turns, waited for on another rank and in no execution.
CREATE TABLE outside (
    foi      INTEGER NOT NULL REFERENCES foi,
    tree     INTEGER NOT NULL, -- the execution that waited
    incident INTEGER NOT NULL,
    location INTEGER NOT NULL REFERENCES location, -- of the call that it waited for,
    call     INTEGER NOT NULL, -- ... as execution.call,
    ns       INTEGER NOT NULL, -- ... and by how much longer than typical
    PRIMARY KEY (foi, tree)
) WITHOUT ROWID;
-- Places (ranks; threads, where there is one rank) that are slow or have more to do in every execution, those
-- that cost the run most first. None is there where nobody is to blame.
CREATE TABLE slow_place (
    foi       INTEGER NOT NULL REFERENCES foi,
    id        INTEGER NOT NULL, -- from 1
    place     TEXT NOT NULL,    -- "rank 1"
    verdict   TEXT NOT NULL,    -- slow, or imbalanced
    excess_ns INTEGER NOT NULL, -- own work over that of the others, in all of its executions
    cost_ns   INTEGER,          -- what the run would be shorter were it like the others; NULL: not known
    cost_least_ns INTEGER,      -- ... without what it is slow by at least, and without all that it
    cost_most_ns  INTEGER,      -- may be slow by; NULL: of a thread, or not known
    why       TEXT NOT NULL,
    PRIMARY KEY (foi, id)
) WITHOUT ROWID;
-- In which ways executions are strange, those first to which incidents that lost most go back; and each
-- anomaly, or execution of an incident, in which.
CREATE TABLE way (
    foi  INTEGER NOT NULL REFERENCES foi,
    id   INTEGER NOT NULL,      -- from 1
    what TEXT NOT NULL,         -- "more calls of ev_tally"
    PRIMARY KEY (foi, id)
) WITHOUT ROWID;
-- Of which function a way is, where it is of one, and where that is in the source.
CREATE TABLE way_function (
    foi      INTEGER NOT NULL REFERENCES foi,
    id       INTEGER NOT NULL,  -- as in way
    name     TEXT NOT NULL,
    place    TEXT NOT NULL,     -- "physics.c:234"; "" where the trace does not say it
    PRIMARY KEY (foi, id)
) WITHOUT ROWID;
CREATE TABLE execution_way (
    foi  INTEGER NOT NULL REFERENCES foi,
    tree INTEGER NOT NULL,      -- as in execution
    way  INTEGER NOT NULL,
    PRIMARY KEY (foi, tree)
) WITHOUT ROWID;
CREATE INDEX execution_by_score ON execution (score DESC, time DESC, gross DESC, foi, tree);
CREATE INDEX execution_by_id ON execution (foi, rank, thread, idx);

-- What a person said, in order. Never changed: a label is cleared by a row without one.
CREATE TABLE label (
    id     INTEGER PRIMARY KEY,
    foi    INTEGER NOT NULL REFERENCES foi,
    rank   INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    idx    INTEGER NOT NULL,
    label  TEXT,                    -- abnormal, normal; NULL: no longer labelled
    author TEXT NOT NULL,
    at     TEXT NOT NULL            -- UTC, 2026-01-31T12:00:00Z
);
CREATE INDEX label_of_execution ON label (foi, rank, thread, idx, id);

-- The labels that hold.
CREATE VIEW labelled AS
    SELECT foi, rank, thread, idx, label, author, at FROM label AS l
    WHERE label IS NOT NULL AND id = (SELECT max(id) FROM label AS m
        WHERE m.foi = l.foi AND m.rank = l.rank AND m.thread = l.thread AND m.idx = l.idx);

-- Every time the scores were made anew from labels. The newest that is not undone holds.
CREATE TABLE retrain (
    id             INTEGER PRIMARY KEY,
    foi            INTEGER NOT NULL REFERENCES foi,
    author         TEXT NOT NULL,
    at             TEXT NOT NULL,
    learner        TEXT NOT NULL,
    features       TEXT NOT NULL,
    seed           INTEGER NOT NULL,
    last_label     INTEGER NOT NULL, -- label.id: this one and those before were learnt from
    abnormal       INTEGER NOT NULL, -- labels that held
    normal         INTEGER NOT NULL,
    threshold      REAL,             -- a score above it is an anomaly
    anomalies      INTEGER NOT NULL,
    became_anomaly INTEGER NOT NULL, -- verdicts that changed
    became_normal  INTEGER NOT NULL,
    is_undone      INTEGER NOT NULL DEFAULT 0,
    settings       TEXT NOT NULL     -- JSON: of stack2vec and of the one-class SVM
);

-- What a person did, in order, so that it can be undone and redone: labels that were given at
-- once, or a retrain. Those that are undone and can be redone no more are gone.
CREATE TABLE act (
    id          INTEGER PRIMARY KEY,
    foi         INTEGER NOT NULL REFERENCES foi,
    first_label INTEGER,            -- label.id; those of the function from this one ...
    last_label  INTEGER,            -- ... to this one; NULL, both: it is a retrain
    retrain     INTEGER REFERENCES retrain,
    is_undone   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX act_of_foi ON act (foi, is_undone, id);

-- Executions as points on a plane, and how they came there: snag project.
CREATE TABLE projection (
    foi    INTEGER NOT NULL REFERENCES foi,
    method TEXT NOT NULL,           -- tsne, pca, mds
    tree   INTEGER NOT NULL,        -- as in execution
    x      REAL NOT NULL,
    y      REAL NOT NULL,
    PRIMARY KEY (foi, method, tree)
) WITHOUT ROWID;
CREATE TABLE projection_settings (
    foi        INTEGER NOT NULL REFERENCES foi,
    method     TEXT NOT NULL,
    features   TEXT NOT NULL,
    iterations INTEGER NOT NULL,    -- done
    cost       REAL,                -- tsne: KL divergence; mds: stress; pca: variance not shown
    settings   TEXT NOT NULL,       -- JSON: as asked for; 0 is the method's own number
    PRIMARY KEY (foi, method)
) WITHOUT ROWID;

-- Calls of any region that took unusually long or short (snag analyze --per-call).
CREATE TABLE strange_call (
    location    INTEGER NOT NULL REFERENCES location,
    call        INTEGER NOT NULL,   -- row among the calls of its location
    region      INTEGER NOT NULL REFERENCES region,
    enter_ns    INTEGER NOT NULL,
    time_ns     INTEGER NOT NULL,   -- what was judged: exclusive or inclusive
    usual_ns    REAL NOT NULL,      -- median of its region
    severity_ns REAL NOT NULL,      -- time_ns above that
    score       REAL NOT NULL,      -- the detector's own
    p           REAL NOT NULL,      -- how likely a normal call is as strange
    PRIMARY KEY (location, call)
) WITHOUT ROWID;
CREATE INDEX strange_call_by_severity ON strange_call (severity_ns DESC);
