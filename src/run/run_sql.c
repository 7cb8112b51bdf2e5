#include "run/run_sql.h"

const char run_sql_meta_any[] = "SELECT value FROM meta LIMIT 1";
const char run_sql_version[] = "PRAGMA data_version";

/* ------------------------------------------------------------------------ what the run is */

const char run_sql_regions[] =
    "SELECT id, name, short_name, kind, calls, inclusive_ns, exclusive_ns, outermost, min_ns, "
    "max_ns, variation, locations, file, line FROM region ORDER BY id";

const char run_sql_search[] =
    "SELECT id AS region, name, calls FROM region WHERE calls > 0 AND "
    "instr(lower(name), lower(?)) > 0 ORDER BY calls DESC, id LIMIT ?";

const char run_sql_show_fois[] =
    "SELECT id, name, trees, vertices, messages, unique_subtrees, max_depth, features, "
    "detector, threshold, (SELECT count(*) FROM execution e WHERE e.foi = f.id AND e.verdict = "
    "'anomaly') AS anomalies FROM foi f ORDER BY id";

const char run_sql_show_retrain[] = "SELECT id, learner, at, anomalies FROM retrain "
                                    "WHERE foi = ? AND NOT is_undone ORDER BY id DESC LIMIT 1";

const char run_sql_show_labels[] =
    "SELECT (SELECT count(*) FROM labelled WHERE foi = ?1 AND label = 'abnormal') AS abnormal, "
    "(SELECT count(*) FROM labelled WHERE foi = ?1 AND label = 'normal') AS normal, "
    /* executions whose label is another than the retrain that holds learnt */
    "(WITH learnt (last) AS (SELECT coalesce((SELECT last_label FROM retrain WHERE foi = ?1 "
    "AND "
    "NOT is_undone ORDER BY id DESC LIMIT 1), 0)) "
    "SELECT count(*) FROM (SELECT DISTINCT rank, thread, idx FROM label, learnt "
    "WHERE foi = ?1 AND id > last) AS x WHERE "
    "(SELECT label FROM label AS l WHERE l.foi = ?1 AND l.rank = x.rank AND "
    "l.thread = x.thread AND l.idx = x.idx ORDER BY id DESC LIMIT 1) IS NOT "
    "(SELECT label FROM label AS l, learnt WHERE l.foi = ?1 AND l.rank = x.rank AND "
    "l.thread = x.thread AND l.idx = x.idx AND l.id <= last ORDER BY id DESC LIMIT 1)) "
    "AS to_learn";

/* What is undone next, and of what was undone what is redone next; (foi). */
#define NEXT_UNDO "FROM act WHERE foi = ?1 AND is_undone = 0 ORDER BY id DESC LIMIT 1"
#define NEXT_REDO                                                                              \
    "FROM act WHERE foi = ?1 AND is_undone = 1 AND id > coalesce((SELECT max(id) FROM act "    \
    "WHERE foi = ?1 AND is_undone = 0), 0) ORDER BY id LIMIT 1"
#define ACT_COLUMNS "SELECT id, first_label, last_label, retrain "

const char run_sql_next_undo[] = ACT_COLUMNS NEXT_UNDO;
const char run_sql_next_redo[] = ACT_COLUMNS NEXT_REDO;

const char run_sql_undo_log_to_learn[] =
    "SELECT first_label, last_label, (SELECT count(*) FROM label WHERE foi = ?1 AND id "
    "BETWEEN first_label AND last_label), (SELECT tree FROM label AS l JOIN execution AS x ON "
    "x.foi = l.foi AND x.rank = l.rank AND x.thread = l.thread AND x.idx = l.idx WHERE l.id = "
    "first_label) FROM (SELECT * FROM act WHERE foi = ?1 AND retrain IS NULL AND NOT is_undone "
    "AND id > coalesce((SELECT max(id) FROM act WHERE foi = ?1 AND retrain IS NOT NULL AND NOT "
    "is_undone), 0) ORDER BY id DESC LIMIT ?2) ORDER BY id";

#define SHOWN_ACT                                                                              \
    "SELECT CASE WHEN retrain IS NULL THEN 'labels' ELSE 'retrain' END AS kind, "              \
    "(SELECT count(*) FROM label WHERE label.foi = act.foi AND label.id BETWEEN first_label "  \
    "AND last_label) AS labels "

const char run_sql_show_undo[] = SHOWN_ACT NEXT_UNDO;
const char run_sql_show_redo[] = SHOWN_ACT NEXT_REDO;

const char run_sql_show_projections[] = "SELECT method, features, iterations, cost FROM "
                                        "projection_settings WHERE foi = ? ORDER BY method";

const char run_sql_show_locations[] =
    "SELECT id, rank, thread, name, node, is_gpu, calls, first_ns, "
    "last_ns, clock_offset_ns FROM location ORDER BY id";

const char run_sql_show_quality[] =
    "SELECT kind, location, count, is_damage, text FROM quality ORDER BY location, kind";

const char run_sql_fois[] = "SELECT id FROM foi ORDER BY id";
const char run_sql_fois_regions[] = "SELECT id, region FROM foi ORDER BY id";
const char run_sql_n_fois[] = "SELECT count(*) FROM foi";
const char run_sql_n_trees[] = "SELECT trees FROM foi WHERE id = ?";

/* One of that very name, or else those it is a part of. */
const char run_sql_fois_named[] =
    "SELECT id, name FROM foi WHERE ?1 IS NULL OR name = ?1 OR "
    "(instr(name, ?1) > 0 AND NOT EXISTS (SELECT 1 FROM foi WHERE name = ?1)) ORDER BY id";

/* ----------------------------------------------------------------------------- executions */

/* A sentence without what it says first of what is no anomaly (why.c). */
#define WITHOUT_NO_ANOMALY(why)                                                                \
    "substr(" why ", CASE WHEN " why " LIKE 'rare, but no anomaly: %' OR " why                 \
    " LIKE 'no anomaly: %' THEN instr(" why ", '; ') + 2 ELSE 1 END) "
/* What was written for the verdict of the detector, where labels made it another; "typical": by older versions. */
#define WHY_BY_LABELS(why)                                                                     \
    "CASE WHEN " why " IN ('nothing stands out', 'typical') "                                  \
    "THEN 'labels made it an anomaly, though nothing of it stands out' "                       \
    "ELSE 'labels made it an anomaly; ' || " WITHOUT_NO_ANOMALY(why) "END "
#define WHY_OF_EXECUTION                                                                       \
    "CASE WHEN e.verdict = 'normal' OR e.detector_verdict = 'anomaly' THEN e.why "             \
    "ELSE " WHY_BY_LABELS("e.why") "END"
/* The columns of enum run_sql_execution. */
#define EXECUTIONS                                                                             \
    "SELECT e.foi, f.name, e.tree, e.location, e.rank, e.thread, e.idx, e.call, e.enter_ns, "  \
    "e.duration_ns, e.vertices, e.messages, e.score, e.verdict, " WHY_OF_EXECUTION             \
    " || coalesce('; cause: ' || e.cause, '') || coalesce('; ' || e.cost, ''), "               \
    "(SELECT l.label FROM label l WHERE l.foi = e.foi AND l.rank = e.rank "                    \
    "AND l.thread = e.thread AND l.idx = e.idx ORDER BY l.id DESC LIMIT 1), e.part, "          \
    "e.cause, "                                                                                \
    "e.false_alarm_probability, e.tracer_ns, e.usual_ns, e.lost_ns, e.cost_ns, "               \
    "e.cost_is_bound, e.off_ns, e.open_ns "                                                    \
    "FROM execution e JOIN foi f ON f.id = e.foi WHERE "
/* Of an execution, by its alias. */
#define WITH_LABEL(e, which)                                                                   \
    "EXISTS (SELECT 1 FROM labelled l WHERE l.foi = " e ".foi AND l.rank = " e                 \
    ".rank AND l.thread = " e ".thread AND l.idx = " e ".idx AND " which ")"
#define IS_LABELLED(e) WITH_LABEL(e, "l.label IS NOT NULL")
/* In the set that is asked for, with all of these marks: executions_ask. */
#define IN_SET(e, marks) "in_set(?7, " e ".tree, " marks ")"
#define PLACED "1"     /* RUNDB_IS_PLACED */
#define REASONED "2"   /* RUNDB_HAS_REASON */
#define ALL_MARKS "15" /* RUNDB_ALL_MARKS */
#define IS_LABELLED_AS_ASKED                                                                   \
    "CASE WHEN ?5 IS NULL THEN 1 WHEN ?5 = 'none' THEN NOT " IS_LABELLED(                      \
        "e") " ELSE " WITH_LABEL("e", "l.label = ?5") " END "
#define FILTERED                                                                               \
    EXECUTIONS "(?1 IS NULL OR e.foi = ?1) AND (?2 IS NULL OR e.rank = ?2) AND "               \
               "(?3 IS NULL OR e.verdict = ?3) AND " IS_LABELLED_AS_ASKED "ORDER BY "

const char run_sql_why_cost_is_unknown[] =
    "SELECT cost FROM execution e WHERE foi = ?1 AND lost_ns > 0 AND cost_ns IS NULL AND "
    "cost IS NOT NULL AND " IN_SET("e", ALL_MARKS) " ORDER BY tree LIMIT 1";
const char run_sql_roots[] =
    "SELECT location, call, rank, thread, idx, verdict = 'anomaly', lost_ns, "
    "coalesce(incident, 0) FROM execution WHERE foi = ? ORDER BY tree";
const char run_sql_outside[] =
    "SELECT incident, location, call, ns FROM outside WHERE foi = ? ORDER BY tree";
const char run_sql_executions_by_score[] =
    FILTERED "e.score DESC, e.time DESC, e.gross DESC, e.foi, e.tree LIMIT ?4";
const char run_sql_executions_by_lost[] =
    FILTERED "e.lost_ns DESC, e.score DESC, e.foi, e.tree LIMIT ?4";
const char run_sql_executions_by_cost[] =
    FILTERED "e.cost_ns > 0 AND NOT e.cost_is_bound DESC, e.cost_ns DESC, e.lost_ns DESC, "
             "e.score DESC, e.foi, e.tree LIMIT ?4";
const char run_sql_executions_in_order[] = FILTERED "e.foi, e.tree LIMIT ?4";
const char run_sql_execution_at[] =
    EXECUTIONS "e.foi = ? AND e.rank = ? AND e.thread = ? AND e.idx = ?";
const char run_sql_execution_of_tree[] = EXECUTIONS "e.foi = ? AND e.tree = ?";

/* By the index: SQLite, which knows no sizes, would rather read all executions of the function.
 */
#define MEMBERS                                                                                \
    "FROM execution e INDEXED BY execution_incident WHERE e.foi = i.foi AND e.incident = "     \
    "i.id "
#define WHY_OF_INCIDENT                                                                        \
    "CASE WHEN EXISTS (SELECT 1 " MEMBERS                                                      \
    "AND e.verdict = 'anomaly') AND NOT EXISTS (SELECT 1 " MEMBERS                             \
    "AND e.detector_verdict = 'anomaly') THEN " WHY_BY_LABELS("i.why") "ELSE i.why END AS why"
/* The way in which its head is strange, or NULL. */
#define WAY_OF_HEAD                                                                            \
    "(SELECT x.way FROM execution_way x WHERE x.foi = i.foi AND x.tree = i.head)"
/* On how many ranks it is the same: anomalies that are strange in the way of its head, and that
 * lost at least half of what that lost; 1: it goes back to one. */
#define RANKS_ALIKE                                                                            \
    "CASE WHEN i.causes > 1 THEN (SELECT max(count(DISTINCT e.rank), 1) FROM execution e "     \
    "INDEXED BY execution_incident JOIN execution_way y ON y.foi = e.foi AND y.tree = e.tree " \
    "WHERE e.foi = i.foi AND e.incident = i.id AND e.verdict = 'anomaly' AND y.way "           \
    "= " WAY_OF_HEAD " AND 2 * e.lost_ns >= (SELECT g.lost_ns FROM execution g WHERE g.foi = " \
    "i.foi AND g.tree = i.head)) ELSE 1 END"
/* Those of the table incident, and whether one of their executions is an anomaly now. */
#define STORED_INCIDENTS                                                                       \
    "SELECT i.foi, i.id, i.score, i.is_costly, i.begin_ns, i.end_ns, i.lost_ns, i.head, "      \
    "i.rank, i.executions, (SELECT count(DISTINCT e.rank) " MEMBERS                            \
    ") AS ranks, i.turns, i.period, " WHY_OF_INCIDENT ", "                                     \
    "EXISTS (SELECT 1 " MEMBERS                                                                \
    "AND e.verdict = 'anomaly') AS is_anomaly, i.cost_ns, i.cost_least_ns, i.cost_most_ns, "   \
    "i.cause, " RANKS_ALIKE " AS alike FROM incident i "
/* What labels made anomalies, and is part of nothing, comes with them. */
#define ALL_INCIDENTS                                                                          \
    "WITH all_incidents AS (" STORED_INCIDENTS                                                 \
    "UNION ALL SELECT e.foi, 0, e.score, 0, e.enter_ns, e.enter_ns + e.duration_ns, "          \
    "e.lost_ns, e.tree, e.rank, 1, 1, 1, 0, " WHY_OF_EXECUTION                                 \
    ", 1, CASE WHEN e.cost_is_bound THEN NULL ELSE e.cost_ns END, "                            \
    "CASE WHEN e.cost_is_bound THEN 0 ELSE e.cost_ns END, e.cost_ns, "                         \
    "'labels made it an anomaly', 1 FROM execution e "                                         \
    "WHERE e.incident IS NULL AND e.verdict = 'anomaly') "
/* The columns of enum run_sql_incident. */
#define INCIDENT_COLUMNS                                                                       \
    "SELECT i.foi, f.name, i.id, i.score, i.begin_ns, i.end_ns, i.lost_ns, i.head, h.rank, "   \
    "h.thread, h.idx, i.rank, i.executions, i.ranks, i.turns, i.period, i.why, i.is_anomaly, " \
    "i.cost_ns, i.cost_least_ns, i.cost_most_ns, i.cause, "                                    \
    "h.open_ns IS NOT NULL AND h.verdict = 'anomaly', i.is_costly, " WAY_OF_HEAD               \
    ", (SELECT w.what FROM way w WHERE w.foi = i.foi AND w.id = " WAY_OF_HEAD "), "            \
    "i.alike "
#define WITH_HEADS                                                                             \
    "JOIN foi f ON f.id = i.foi JOIN execution h ON h.foi = i.foi AND h.tree = i.head "
/* What is asked of an execution, by its alias. */
#define IS_ASKED(e)                                                                            \
    "(?2 IS NULL OR " e ".rank = ?2) AND " IN_SET(                                             \
        e, PLACED) " AND "                                                                     \
                   "(?4 IS NULL OR ?4 = 'none' OR " WITH_LABEL(e, "l.label = ?4") ")"
/* The head is looked at by itself, as what has no number has no other execution. */
#define SOME_EXECUTION(which)                                                                  \
    "((" which("h") ") OR EXISTS (SELECT 1 " MEMBERS "AND " which("e") "))"
#define FILTERED_INCIDENTS                                                                     \
    "FROM all_incidents i " WITH_HEADS "WHERE (?1 IS NULL OR i.foi = ?1) AND "                 \
    "(?3 IS NULL OR (?3 = 'anomaly') = i.is_anomaly) AND "                                     \
    "(?8 IS NULL OR ?8 = " WAY_OF_HEAD ") AND " IN_SET("h", REASONED) " AND " SOME_EXECUTION(  \
        IS_ASKED) " AND (?4 IS NOT 'none' OR NOT " SOME_EXECUTION(IS_LABELLED) ") "

const char run_sql_incidents[] = ALL_INCIDENTS INCIDENT_COLUMNS FILTERED_INCIDENTS
    "ORDER BY i.is_anomaly OR i.is_costly DESC, 1.0 * i.lost_ns / i.turns DESC, i.score DESC, "
    "i.foi, i.id "
    "LIMIT ?5 OFFSET ?6";
const char run_sql_meanwhile[] =
    "SELECT sum(enter_ns >= ?3), count(DISTINCT CASE WHEN enter_ns >= ?3 THEN location END), "
    "sum(open_ns IS NOT NULL AND verdict = 'anomaly'), "
    "sum(open_ns IS NOT NULL AND verdict <> 'anomaly') FROM execution WHERE foi = ?1 AND "
    "location <> ?2";
const char run_sql_typical_of[] =
    "SELECT max(coalesce(settings ->> '$.model_executions', trees)) FROM foi "
    "WHERE ?1 IS NULL OR id = ?1";
const char run_sql_others[] =
    "SELECT count(*), coalesce(sum(e.lost_ns), 0), coalesce(min(e.duration_ns), 0), "
    "coalesce(max(e.duration_ns), 0) FROM execution e WHERE e.verdict = 'normal' "
    "AND (?1 IS NULL OR e.foi = ?1) AND (?2 IS NULL OR e.rank = ?2) AND (e.incident IS NULL OR "
    "(e.foi, e.incident) NOT IN (SELECT foi, incident FROM execution WHERE verdict = 'anomaly' "
    "AND incident IS NOT NULL))";
const char run_sql_slow_places[] = "SELECT place, verdict, excess_ns, cost_ns, why, "
                                   "cost_least_ns, cost_most_ns FROM slow_place "
                                   "WHERE foi = ?1 ORDER BY id";
/* With max(), SQLite takes the other columns of the row that has it. */
const char run_sql_costly_others[] =
    "SELECT count(*), coalesce(sum(i.cost_ns), 0), max(i.cost_ns), h.rank, h.thread, h.idx, "
    "f.name, i.cause, sum(coalesce(i.cost_least_ns, i.cost_ns)), "
    "coalesce(i.cost_least_ns, i.cost_ns) FROM (" STORED_INCIDENTS
    "WHERE i.cost_ns > 0) i " WITH_HEADS
    "WHERE (?1 IS NULL OR i.foi = ?1) AND (?2 IS NULL OR h.rank = ?2) AND NOT i.is_anomaly";
const char run_sql_groups[] =
    "SELECT w.foi, f.name, w.id, w.what, e.tree, e.rank, e.thread, e.idx, e.enter_ns, "
    "e.lost_ns, i.id, i.lost_ns, i.cost_ns, (SELECT l.label FROM labelled l WHERE l.foi = "
    "e.foi AND "
    "l.rank = e.rank AND l.thread = e.thread AND l.idx = e.idx), e.open_ns IS NOT NULL "
    "FROM way w JOIN foi f ON f.id = w.foi "
    "JOIN execution_way x ON x.foi = w.foi AND x.way = w.id "
    "JOIN execution e ON e.foi = x.foi AND e.tree = x.tree "
    "LEFT JOIN incident i ON i.foi = e.foi AND i.id = e.incident AND i.head = e.tree "
    "WHERE e.verdict = 'anomaly' AND (?1 IS NULL OR w.foi = ?1) AND (?2 IS NULL OR e.rank = "
    "?2) AND " IN_SET("e", PLACED) " AND " IN_SET("e", REASONED) " ORDER BY w.foi, w.id, "
                                                                 "e.tree";
const char run_sql_n_incidents[] = ALL_INCIDENTS "SELECT count(*) " FILTERED_INCIDENTS;
const char run_sql_incident_of[] =
    INCIDENT_COLUMNS "FROM (" STORED_INCIDENTS "WHERE i.foi = ?1 AND i.id = (SELECT incident "
                     "FROM execution WHERE foi = ?1 AND tree = ?2)) i " WITH_HEADS;
const char run_sql_incident_members[] =
    "SELECT rank, thread, idx, tree FROM execution INDEXED BY execution_incident "
    "WHERE foi = ?1 AND incident = ?2 UNION ALL "
    "SELECT rank, thread, idx, tree FROM execution WHERE ?2 = 0 AND foi = ?1 AND tree = ?3 "
    "ORDER BY rank, thread, idx";

/* By way of the head and rank of the cause, NULL where each goes back to several; without those that only labels made one. Last comes of how many, of those
 * that lost time or do not end, the cost is not known. */
const char run_sql_causes[] =
    "SELECT way, rank, is_elsewhere, count(*), sum(lost_ns), coalesce(sum(cost_ns), 0), "
    "min(place), sum(cost_ns IS NULL AND (lost_ns > 0 OR is_open)), max(alike), "
    "CAST(substr(max(printf('%020lld %lld', lost_ns, id)), 22) AS INTEGER) FROM (SELECT way, "
    "CASE WHEN alike > 1 THEN NULL ELSE rank END AS rank, is_elsewhere, lost_ns, cost_ns, "
    "is_open, place, alike, id FROM (SELECT i.id, " WAY_OF_HEAD
    " AS way, i.rank, i.location <> h.location AS is_elsewhere, i.lost_ns, i.cost_ns, "
    "h.open_ns IS NOT "
    "NULL AS is_open, CASE WHEN i.location <> h.location THEN i.causes ELSE " RANKS_ALIKE
    " END AS alike, row_number() OVER (ORDER BY i.score DESC, i.id) AS place "
    "FROM incident i JOIN execution h ON h.foi = i.foi AND h.tree = i.head "
    "WHERE i.foi = ?1 AND EXISTS (SELECT 1 " MEMBERS "AND e.verdict = 'anomaly'))) "
    "GROUP BY 1, 2, 3 ORDER BY 1, 3, 2";
const char run_sql_cause[] = "SELECT cause FROM incident WHERE foi = ?1 AND id = ?2";
const char run_sql_causes_elsewhere[] =
    "SELECT i.cause FROM incident i JOIN execution h ON h.foi = i.foi AND h.tree = i.head "
    "WHERE i.foi = ?1 AND i.rank = ?2 AND i.location <> h.location AND EXISTS (SELECT "
    "1 " MEMBERS "AND e.verdict = 'anomaly')";
const char run_sql_n_unended[] = "SELECT count(*) FROM execution WHERE foi = ? AND verdict = "
                                 "'anomaly' AND open_ns IS NOT NULL";
const char run_sql_way[] = "SELECT what FROM way WHERE foi = ?1 AND id = ?2";
const char run_sql_verdict_changed[] =
    "SELECT 1 FROM retrain WHERE foi = ?1 AND NOT is_undone AND EXISTS (SELECT 1 FROM "
    "execution WHERE foi = ?1 AND verdict <> detector_verdict) LIMIT 1";
const char run_sql_labels_lost[] = "SELECT ifnull(sum(max(lost_ns, duration_ns - usual_ns, "
                                   "0)), 0) FROM execution WHERE foi = ?1 "
                                   "AND verdict = 'anomaly' AND detector_verdict <> 'anomaly'";
const char run_sql_way_function[] =
    "SELECT name, place FROM way_function WHERE foi = ?1 AND id = ?2";
const char run_sql_unknown_cost[] =
    "SELECT cost FROM execution WHERE foi = ?1 AND verdict = 'anomaly' AND (cost_ns IS NULL OR "
    "cost_is_bound) AND cost IS NOT NULL ORDER BY lost_ns DESC, tree LIMIT 1";

const char run_sql_has_bounds[] =
    "SELECT EXISTS (SELECT 1 FROM incident WHERE foi = ?1 AND cost_ns IS NULL AND cost_most_ns "
    "IS NOT NULL)";

const char run_sql_set_anomalies_cost[] =
    "UPDATE foi SET anomalies_cost_ns = ?, anomalies_carrying = ? WHERE id = ?";
const char run_sql_anomalies_cost[] =
    "SELECT anomalies_cost_ns, anomalies_carrying FROM foi WHERE id = ?";
/* In the order of rows, hence the +: an index would go to each of them. */
const char run_sql_lost_by_rank[] =
    "SELECT rank, sum(n), sum(duration_ns), sum(lost_ns), sum(tracer_ns) FROM ("
    "SELECT rank, count(*) AS n, sum(duration_ns) AS duration_ns, sum(lost_ns) AS lost_ns, "
    "sum(tracer_ns) AS tracer_ns FROM execution WHERE foi = ? GROUP BY +location) "
    "GROUP BY rank ORDER BY 4 DESC, rank";

const char run_sql_n_executions_of_thread[] =
    "SELECT count(*) FROM execution WHERE foi = ? AND rank = ? AND thread = ?";
const char run_sql_place[] = /* by score, hence the +: few are above what is looked at */
    "SELECT (SELECT trees FROM foi WHERE id = ?1), count(*) + 1 FROM execution "
    "WHERE score > ?2 AND +foi = ?1";

const char run_sql_peers[] =
    "SELECT e.rank, e.thread, e.idx, e.score, e.enter_ns - ?3, e.duration_ns, " WHY_OF_EXECUTION
    " FROM execution e WHERE e.foi = ?1 AND e.location <> ?2 AND e.verdict = 'anomaly' "
    "AND e.enter_ns < ?3 + ?4 AND e.enter_ns + e.duration_ns > ?3 "
    "ORDER BY e.score DESC, e.time DESC, e.tree LIMIT ?5";

const char run_sql_scores[] =
    "SELECT tree, score, verdict = 'anomaly' FROM execution WHERE foi = ? ORDER BY tree";
const char run_sql_facts[] =
    "SELECT tree, score, verdict = 'anomaly', enter_ns, duration_ns, rank, thread, idx, "
    "location, vertices, messages, CASE part WHEN 'time' THEN 0 WHEN 'gross' THEN 1 WHEN "
    "'structure' THEN 2 ELSE 3 END, time, gross, detector_score, "
    "detector_verdict = 'anomaly', call, lost_ns, cost_ns, cost_is_bound FROM execution WHERE "
    "foi = ? ORDER BY tree";

const char run_sql_ways[] =
    "SELECT w.id, w.what, f.name, f.place FROM way w LEFT JOIN way_function f ON f.foi = w.foi "
    "AND f.id = w.id WHERE w.foi = ? ORDER BY w.id";
const char run_sql_execution_ways[] = "SELECT tree, way FROM execution_way WHERE foi = ?";

const char run_sql_projection_x[] =
    "SELECT tree, x FROM projection WHERE foi = ? AND method = ?";
const char run_sql_projection_y[] =
    "SELECT tree, y FROM projection WHERE foi = ? AND method = ?";

/* --------------------------------------------------------------------------------- labels */

#define LABEL_ROWS                                                                             \
    "l.rank, l.thread, l.idx, l.label, l.author, l.at, CASE WHEN (SELECT count(*) FROM foi) "  \
    "> 1 THEN f.name END FROM labelled l JOIN foi f ON f.id = l.foi "

const char run_sql_labels[] =
    "SELECT l.foi, NULL, " LABEL_ROWS "ORDER BY l.foi, l.rank, l.thread, l.idx";
const char run_sql_labels_of_trees[] =
    "SELECT l.foi, e.tree, " LABEL_ROWS
    "JOIN execution e ON e.foi = l.foi AND e.rank = l.rank AND e.thread = l.thread AND "
    "e.idx = l.idx ORDER BY l.foi, e.tree";

const char run_sql_given_labels[] =
    "SELECT o.name, l.rank, l.thread, l.idx, l.label, l.author, l.at "
    "FROM label AS l JOIN foi AS o ON o.id = l.foi ORDER BY l.id";
const char run_sql_n_held_labels[] =
    "SELECT count(*) FROM label AS l JOIN foi AS o ON o.id = l.foi WHERE l.label IS NOT NULL "
    "AND "
    "l.id = (SELECT max(m.id) FROM label AS m WHERE m.foi = l.foi AND m.rank = l.rank AND "
    "m.thread = l.thread AND m.idx = l.idx)";

const char run_sql_stamp[] =
    "SELECT (SELECT coalesce(max(id), 0) FROM label), coalesce(max(id), 0), "
    "coalesce(sum(is_undone), 0) FROM retrain WHERE foi = ?";

const char run_sql_retrains[] =
    "SELECT id, at, author, learner, features, abnormal, normal, anomalies, is_undone "
    "FROM retrain WHERE foi = ? ORDER BY id";

/* -------------------------------------------------------------------------- strange calls */

const char run_sql_strange_calls[] =
    "SELECT l.rank, l.thread, s.call, r.short_name, s.enter_ns, s.time_ns, s.usual_ns, "
    "s.severity_ns, s.score, s.p FROM strange_call AS s JOIN location AS l ON l.id = "
    "s.location JOIN region AS r ON r.id = s.region WHERE ?1 IS NULL OR l.rank = ?1 "
    "ORDER BY s.severity_ns DESC, s.location, s.call LIMIT ?2";
