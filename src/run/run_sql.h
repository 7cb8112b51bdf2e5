/*
 * run_sql -- the questions that commands and the page ask of run.db, beside its schema.
 *
 * Each is one statement for rundb_prepare. Parameters are numbered, or in the order of the
 * comment; columns that are read by their place have names here.
 */
#ifndef SNAG_RUN_RUN_SQL_H
#define SNAG_RUN_RUN_SQL_H

/* Whether there is anything in meta. */
extern const char run_sql_meta_any[];

/* That somebody else has written changes what this answers. */
extern const char run_sql_version[];

/* --------------------------------------------------------------------- what the run is */

extern const char run_sql_regions[]; /* for rows_to_json */
extern const char run_sql_search[];  /* (part of a name, most) for rows_to_json */

/* (foi, -, -, -, -, -, set) -> why it is not known what executions cost, of the first that passes
 * with all marks, lost something, and has words for it */
extern const char run_sql_why_cost_is_unknown[];

/* (foi) -> id, first and last label, retrain of the act that is undone, or redone, next. */
extern const char run_sql_next_undo[], run_sql_next_redo[], run_sql_undo_log_to_learn[];

/* For rows_to_json: what /run shows. (foi) where one is named; fois and the last two: none. */
extern const char run_sql_show_fois[], run_sql_show_retrain[], run_sql_show_labels[],
    run_sql_show_undo[], run_sql_show_redo[], run_sql_show_projections[],
    run_sql_show_locations[], run_sql_show_quality[];

/* Functions of interest: their ids; how many; (name or NULL) -> id, name of those it may mean;
 * (foi) -> executions. */
extern const char run_sql_fois[], run_sql_fois_regions[], run_sql_n_fois[],
    run_sql_fois_named[], run_sql_n_trees[];

/* -------------------------------------------------------------------------- executions */

enum run_sql_execution {
    EXECUTION_FOI,
    EXECUTION_FOI_NAME,
    EXECUTION_TREE,
    EXECUTION_LOCATION,
    EXECUTION_RANK,
    EXECUTION_THREAD,
    EXECUTION_INDEX,
    EXECUTION_CALL,
    EXECUTION_ENTER,
    EXECUTION_DURATION,
    EXECUTION_VERTICES,
    EXECUTION_MESSAGES,
    EXECUTION_SCORE,
    EXECUTION_VERDICT,
    EXECUTION_WHY,
    EXECUTION_LABEL,
    EXECUTION_PART,
    EXECUTION_CAUSE,
    EXECUTION_CHANCE,
    EXECUTION_TRACER,
    EXECUTION_TYPICAL,
    EXECUTION_LOST,
    EXECUTION_COST,
    EXECUTION_COST_IS_BOUND,
    EXECUTION_OFF,
    EXECUTION_OPEN,
};

/* (foi) -> the roots of all executions, in order. */
enum run_sql_root {
    ROOT_LOCATION,
    ROOT_CALL,
    ROOT_RANK,
    ROOT_THREAD,
    ROOT_INDEX,
    ROOT_IS_ANOMALY,
    ROOT_LOST,
    ROOT_INCIDENT, /* 0: it is part of none */
};
extern const char run_sql_roots[];
/* (foi) -> of each execution that waited for a call in no execution the number of its incident, the
 * location and row of that call, and for how long. */
extern const char run_sql_outside[];

/* (foi, rank, verdict: each or NULL; most, -1 all; label or NULL), the strangest first, what
 * lost most or cost most first, or as in the trace. */
extern const char run_sql_executions_by_score[], run_sql_executions_by_lost[],
    run_sql_executions_by_cost[], run_sql_executions_in_order[];
/* (foi, rank, thread, index); (foi, tree) */
extern const char run_sql_execution_at[], run_sql_execution_of_tree[];

/* (foi, rank), null for all -> the anomalies of each way in turn, with the incident that one of
 * them is the head of. */
enum run_sql_group {
    GROUP_FOI,
    GROUP_FOI_NAME,
    GROUP_ID,
    GROUP_WHAT,
    GROUP_TREE,
    GROUP_RANK,
    GROUP_THREAD,
    GROUP_INDEX,
    GROUP_ENTER,
    GROUP_LOST,
    GROUP_INCIDENT,
    GROUP_INCIDENT_LOST,
    GROUP_INCIDENT_COST,
    GROUP_LABEL,
    GROUP_IS_OPEN,
};
extern const char run_sql_groups[];

enum run_sql_incident {
    INCIDENT_FOI,
    INCIDENT_FOI_NAME,
    INCIDENT_ID,
    INCIDENT_SCORE,
    INCIDENT_BEGIN,
    INCIDENT_END,
    INCIDENT_LOST,
    INCIDENT_HEAD,
    INCIDENT_HEAD_RANK,
    INCIDENT_HEAD_THREAD,
    INCIDENT_HEAD_INDEX,
    INCIDENT_RANK,
    INCIDENT_EXECUTIONS,
    INCIDENT_RANKS,
    INCIDENT_TURNS,
    INCIDENT_PERIOD,
    INCIDENT_WHY,
    INCIDENT_IS_ANOMALY,
    INCIDENT_COST,
    INCIDENT_COST_LEAST,
    INCIDENT_COST_MOST,
    INCIDENT_CAUSE,
    INCIDENT_IS_UNENDED,
    INCIDENT_IS_COSTLY,
    INCIDENT_WAY, /* of its head; NULL: none is known */
    INCIDENT_WHAT,
    INCIDENT_ALIKE,
};

/* (foi, location, time) -> executions elsewhere that began from then on, on how many
 * locations, how many elsewhere do not end, and how many others were open at the end. */
extern const char run_sql_meanwhile[];

/* (foi or NULL) -> of how many executions what is typical is: of the function of which most are. */
extern const char run_sql_typical_of[];

/* (foi, rank: each or NULL) -> number, lost_ns, shortest and longest of what is no part of an anomaly. */
extern const char run_sql_others[], run_sql_costly_others[], run_sql_slow_places[];

/* (foi, rank, verdict, label: each or NULL; most, -1 all; offset; set, see rundb_bind_set; way:
 * each or NULL), those that lost most first: with an execution that RUNDB_IS_PLACED and a head
 * that RUNDB_HAS_REASON. Of label none are those of whose executions nobody labelled any. */
extern const char run_sql_incidents[];
/* (foi, rank, verdict, label, -, -, set, way) -> how many there are */
extern const char run_sql_n_incidents[];
/* (foi, tree) -> the one that the execution is part of, if there is one */
extern const char run_sql_incident_of[];
/* (foi, id, head) -> rank, thread, index, tree of its executions; id 0: of the head alone */
extern const char run_sql_incident_members[];

/* (foi) -> of the incidents with an anomaly, by the way of their heads (or NULL), whether the
 * cause is on another location than the head, and its rank, or NULL where each goes back to
 * several, in this order: way, rank, whether, how many, lost_ns, cost_ns of those of which it is
 * known, place of the strangest by score from 1, of how many it is not known, to how many ranks
 * one goes back at most, id of the one that lost most */
extern const char run_sql_causes[];
/* (foi) -> how many anomalies do not end: what these lost is not known */
extern const char run_sql_n_unended[];
/* (foi, incident) -> its cause, in short */
extern const char run_sql_cause[];
/* (foi, rank) -> the causes, in short, of incidents with an anomaly that go back to that rank from another location */
extern const char run_sql_causes_elsewhere[];
/* (foi) -> a row where labels that were learnt changed a verdict */
extern const char run_sql_verdict_changed[];
extern const char run_sql_labels_lost[];
/* (foi, way) -> that in words */
extern const char run_sql_way[];
/* (foi, way) -> name and place of the function that it is of, if it is of one */
extern const char run_sql_way_function[];
/* (foi) -> why it is not known what the anomaly cost that lost most of those of which that is
 * not known; nothing where that is known of all, or is not said */
extern const char run_sql_unknown_cost[];
/* (foi) -> 1 where of an incident just the most that it may have cost is known, else 0 */
extern const char run_sql_has_bounds[];

/* (ns, number, foi): set what all anomalies cost together, and how many carry that. */
extern const char run_sql_set_anomalies_cost[];

/* (foi) -> what all its anomalies cost together, and how many carry that; each may be NULL */
extern const char run_sql_anomalies_cost[];

/* (foi): what ranks lost, the most first */
enum run_sql_lost { LOST_RANK, LOST_EXECUTIONS, LOST_DURATION, LOST_NS, LOST_TRACER };
extern const char run_sql_lost_by_rank[];

/* (foi, rank, thread) -> how many there are */
extern const char run_sql_n_executions_of_thread[];
/* (foi, score) -> how many there are, place of that score */
extern const char run_sql_place[];

/* (foi, location, enter, duration, most): anomalies of other locations at that time, the
 * strangest first: rank, thread, index, score, enter after that, duration, why. */
extern const char run_sql_peers[];

/* (foi), by tree: what all executions have. The first three are all of run_sql_scores. */
enum run_sql_fact {
    FACT_TREE,
    FACT_SCORE,
    FACT_IS_ANOMALY,
    FACT_ENTER,
    FACT_DURATION,
    FACT_RANK,
    FACT_THREAD,
    FACT_INDEX,
    FACT_LOCATION,
    FACT_VERTICES,
    FACT_MESSAGES,
    FACT_PART, /* 0 time, 1 gross, 2 structure, 3 none */
    FACT_TIME,
    FACT_GROSS,
    FACT_DETECTOR_SCORE,
    FACT_DETECTOR_VERDICT,
    FACT_CALL,
    FACT_LOST,
    FACT_COST, /* NULL: not known */
    FACT_COST_IS_BOUND,
};
extern const char run_sql_scores[], run_sql_facts[];

/* (foi) -> number, words, function and its place, both or NULL, of the ways, by number */
extern const char run_sql_ways[];
/* (foi) -> tree, way */
extern const char run_sql_execution_ways[];

/* (foi, method) -> tree, coordinate */
extern const char run_sql_projection_x[], run_sql_projection_y[];

/* ------------------------------------------------------------------------------ labels */

enum run_sql_label {
    LABEL_FOI,
    LABEL_TREE, /* of an execution that is there; NULL otherwise */
    LABEL_RANK,
    LABEL_THREAD,
    LABEL_INDEX,
    LABEL_TEXT,
    LABEL_AUTHOR,
    LABEL_AT,
    LABEL_FOI_NAME, /* NULL where there is one function of interest */
};

/* Those that hold: all; those of executions that are there. */
extern const char run_sql_labels[], run_sql_labels_of_trees[];

/* All that were ever given, in that order: function, rank, thread, number, label or NULL, author,
 * time; and how many of them hold. In runs of all versions so far. */
extern const char run_sql_given_labels[], run_sql_n_held_labels[];

/* (foi) -> newest label, newest retrain, how many were undone */
extern const char run_sql_stamp[];

/* (foi), for rows_to_json */
extern const char run_sql_retrains[];

/* ------------------------------------------------------------------------ strange calls */

enum run_sql_strange {
    STRANGE_RANK,
    STRANGE_THREAD,
    STRANGE_CALL,
    STRANGE_FUNCTION,
    STRANGE_ENTER,
    STRANGE_TIME,
    STRANGE_TYPICAL,
    STRANGE_SEVERITY,
    STRANGE_SCORE,
    STRANGE_P,
};

/* (rank or NULL, most, -1 all), what lost most first */
extern const char run_sql_strange_calls[];

#endif
