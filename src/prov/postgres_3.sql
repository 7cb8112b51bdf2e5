-- Version 3: which runs are in a backup, and which were dropped (prov_pg_keep.h).

ALTER TABLE snag.run
    ADD COLUMN backed_up_ns bigint, -- since then it is in a backup, since 1970,
    ADD COLUMN backed_up    bigint, -- with the rows up to this id: all of them while it is `stored`
    ADD COLUMN dropped_ns   bigint; -- its rows were dropped; NULL again when more come

CREATE OR REPLACE VIEW snag.stored_runs AS
SELECT id AS run, program AS pid, rank AS rid, began_ns::double precision / 1000 AS began,
       run_id, ended_ns::double precision / 1000 AS ended, 0::bigint AS shard,
       CASE WHEN backed_up = stored THEN backed_up_ns::double precision / 1000 END AS backed_up,
       dropped_ns::double precision / 1000 AS dropped FROM snag.run;
