-- Version 2: what is asked of a store. The views have Chimbuko's names and units, as those of
-- prov_reader.c over SQLite's shards; they are for everybody (Grafana, psql), and snag itself asks
-- them. Indexes are those of the page's orders and of the questions of `snag provdb`.

CREATE INDEX record_nr_key ON snag.record (nr);
CREATE INDEX record_function ON snag.record (function);
CREATE INDEX record_place ON snag.record (rank, thread, (enter_ns::double precision / 1000));
CREATE INDEX record_entry ON snag.record ((enter_ns::double precision / 1000) DESC NULLS LAST);
CREATE INDEX record_severity ON snag.record ((severity_ns::double precision / 1000) DESC NULLS LAST);
CREATE INDEX record_score ON snag.record (score DESC NULLS LAST);

CREATE VIEW snag.stored_records AS
SELECT r.run, r.program AS pid, r.rank AS rid, r.thread AS tid,
       r.rank || ':' || r.step || ':' || r.idx AS event_id, r.fid, f.name AS func,
       r.enter_ns::double precision / 1000 AS entry,
       r.leave_ns::double precision / 1000 AS exit,
       r.inclusive_ns::double precision / 1000 AS runtime_total,
       r.exclusive_ns::double precision / 1000 AS runtime_exclusive, r.step AS io_step,
       r.score AS outlier_score, r.severity_ns::double precision / 1000 AS outlier_severity, r.p,
       r.model_version, r.is_gpu AS is_gpu_event, r.is_pruned AS verdict_is_pruned,
       coalesce(r.is_pruned, 0) AS is_pruned, r.final_score, r.final_p,
       r.execution::bigint AS execution, r.calls::bigint AS calls,
       r.messages::bigint AS messages, c.cost_ns, c.is_bound AS cost_is_bound,
       r.data, u.run_id, r.stored_ns, r.nr AS __id, 0::bigint AS shard, r.is_normal
FROM snag.record r
JOIN snag.function f ON f.id = r.function
LEFT JOIN snag.run u ON u.id = r.run
LEFT JOIN snag.cost_row c ON c.run = r.run AND c.program = r.program AND c.rank = r.rank
     AND c.step = r.step AND c.idx = r.idx AND c.is_execution = (r.execution IS NOT NULL)::int
     AND r.is_normal = 0;

CREATE VIEW snag.stored_anomalies AS SELECT * FROM snag.stored_records WHERE is_normal = 0;
CREATE VIEW snag.stored_normalexecs AS SELECT * FROM snag.stored_records WHERE is_normal = 1;

CREATE VIEW snag.stored_runs AS
SELECT id AS run, program AS pid, rank AS rid, began_ns::double precision / 1000 AS began,
       run_id, ended_ns::double precision / 1000 AS ended, 0::bigint AS shard FROM snag.run;
CREATE VIEW snag.stored_metadata AS
SELECT run, program AS pid, rank AS rid, thread AS tid, descr, value, stored_ns, 0::bigint AS shard
FROM snag.metadata_row;
CREATE VIEW snag.stored_func_stats AS
SELECT run, program AS pid, fid, name AS func, calls, anomalies, exclusive, inclusive, severity,
       score, 0::bigint AS shard FROM snag.func_stats_row;
CREATE VIEW snag.stored_counter_stats AS
SELECT run, program AS pid, counter, stats, 0::bigint AS shard FROM snag.counter_stats_row;
CREATE VIEW snag.stored_ad_model AS
SELECT run, version, program AS pid, fid, name AS func, algorithm, stats, data,
       0::bigint AS shard FROM snag.ad_model_row;
