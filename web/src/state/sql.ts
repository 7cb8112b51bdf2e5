// SQL about the run: what is asked, what can be tried, and which values of an answer are executions.
import { computed, effect, signal } from "@preact/signals";
import { getJson } from "../api/http";
import { executionId, readExecutionId } from "../format/ids";
import { queryOf } from "./query";
import {
    details,
    executions,
    foi,
    labelsVersion,
    run,
    scoresVersion,
    sqlAsked,
    views,
} from "./store";

export type SqlValue = string | number | null;

/* What GET /query says. */
export interface SqlAnswer {
    columns: string[];
    rows: SqlValue[][];
    total: number; /* rows that there are; when it was stopped, by then */
    stopped: string | null;
}

export const mostRows = 500; /* on the page */
export const mostSavedRows = 10000;
const mostUrl = 8000; /* bytes; the server takes 8 KiB */

export async function askSql(
    sql: string,
    limit: number,
    abort?: AbortSignal,
): Promise<SqlAnswer> {
    const path = `/query?limit=${limit}&sql=${encodeURIComponent(sql)}`;
    if (path.length > mostUrl)
        throw new Error("the query is too long: it has to fit an address of 8 KiB");
    return getJson<SqlAnswer>(path, abort);
}

/* What stands in the field: it stays when another view comes to the front. */
export const sqlText = signal("");
effect(() => {
    if (sqlAsked.value) sqlText.value = sqlAsked.value;
});

/* It is not asked anew when its view comes and goes. */
export const sqlQuery = queryOf<SqlAnswer>(() => {
    const sql = sqlAsked.value;
    if (!sql || !views.value.includes("query")) return null;
    return {
        about: `sql ${sql}`,
        version: `${labelsVersion.value} ${scoresVersion.value}`,
        ask: (abort) => askSql(sql, mostRows, abort),
    };
});

/* Columns that hold executions: by their id, or by their number. */
function isOfIds(column: string): boolean {
    return /^(id|execution|head)$/i.test(column);
}

/* Rows of tables are of all functions: of the one that is shown are those whose column `foi` says so; all where there is no
   other. */
function isOfShown({ columns, row }: RowOfAnswer): boolean {
    const of = row[columns.findIndex((column) => /^foi$/i.test(column))];
    if (of === undefined) return run.value?.fois.length === 1;
    return of === foi.value?.id || of === foi.value?.name;
}

export interface RowOfAnswer {
    columns: string[];
    row: SqlValue[];
}

/* What cell `c` says of an execution of the function that is shown, as a way to it; null: nothing. It is
   looked for only when it is chosen. */
export function executionOf(of: RowOfAnswer, c: number): (() => number | null) | null {
    const [column, value] = [of.columns[c], of.row[c]];
    const all = executions.value;
    if (!all || value === null) return null;
    if (/^tree$/i.test(column))
        return isOfShown(of) &&
            Number.isInteger(value) &&
            Number(value) >= 0 &&
            Number(value) < all.n
            ? () => Number(value)
            : null;
    const id = isOfIds(column) ? readExecutionId(String(value)) : null;
    if (!id || (id.foi ? id.foi !== foi.value?.name : !isOfShown(of))) return null;
    return () => {
        const more = details.value;
        if (!more) return null;
        for (let tree = 0; tree < more.index.length; tree++)
            if (
                more.index[tree] === id.index &&
                more.rank[tree] === id.rank &&
                more.thread[tree] === id.thread
            )
                return tree;
        return null;
    };
}

/* Beside a column `tree`, which execution its number is. */
export function nameOfTree(tree: number): string | null {
    const more = details.value;
    return more && tree < more.index.length
        ? executionId(more.rank[tree], more.thread[tree], more.index[tree])
        : null;
}

/* Those that most questions are about first. */
export const tablesSql = `SELECT t.name AS "table", group_concat(c.name, ', ') AS columns
FROM sqlite_schema t, pragma_table_info(t.name) c
WHERE t.type IN ('table', 'view')
GROUP BY t.name
ORDER BY t.name IN ('execution', 'incident', 'region', 'location', 'labelled') DESC, t.name`;

/* The id of an execution, with its function where there are several. */
const idSql = (of: string, isNamed: boolean) =>
    `${isNamed ? `(SELECT name FROM foi WHERE id = ${of}.foi) || ` : ""}'#' || ${of}.rank || ` +
    `CASE WHEN ${of}.thread THEN '.' || ${of}.thread ELSE '' END || '-' || ${of}.idx AS id`;

/* From docs/queries.md, where more of them are. */
const examplesOf = (isNamed: boolean) => [
    {
        title: "Anomalies, the strangest first",
        sql: `SELECT ${idSql("execution", isNamed)}, duration_ns, lost_ns, score, why
FROM execution
WHERE verdict = 'anomaly'
ORDER BY score DESC, id`,
    },
    {
        title: "Time lost by rank",
        sql: `SELECT 'rank ' || rank AS rank, sum(lost_ns) AS lost_ns, sum(verdict = 'anomaly') AS anomalies
FROM execution
GROUP BY execution.rank
ORDER BY lost_ns DESC, execution.rank`,
    },
    {
        title: "Does it get slower? Mean duration in tenths of the run",
        sql: `SELECT 10 * enter_ns / (1 + last) AS tenth, round(avg(duration_ns)) AS mean_ns
FROM execution, (SELECT max(enter_ns) AS last FROM execution)
GROUP BY tenth
ORDER BY tenth`,
    },
    {
        title: "Executions that lost time on several ranks at once",
        sql: `SELECT idx AS "index", count(DISTINCT rank) AS ranks, sum(lost_ns) AS lost_ns
FROM execution
WHERE lost_ns > duration_ns / 20.0
GROUP BY foi, idx
HAVING count(DISTINCT rank) > 1
ORDER BY lost_ns DESC, idx`,
    },
    {
        title: "Slowest execution of each rank",
        sql: `SELECT ${idSql("execution", isNamed)}, max(duration_ns) AS slowest_ns
FROM execution
GROUP BY rank
ORDER BY rank`,
    },
    {
        title: "Where the run spent its time",
        sql: `SELECT short_name AS region, calls, exclusive_ns AS own_ns
FROM region
WHERE calls > 0
ORDER BY own_ns DESC, name`,
    },
    {
        title: "Functions with calls far longer than their others",
        sql: `SELECT short_name AS region, round(max_ns * 1.0 * outermost / inclusive_ns, 2) AS times_the_mean, max_ns
FROM region
WHERE outermost > 0 AND inclusive_ns > 0
ORDER BY times_the_mean DESC, name`,
    },
    {
        title: "Anomalies that another rank caused",
        sql: `SELECT ${idSql("execution", isNamed)}, cause
FROM execution
WHERE verdict = 'anomaly' AND cause IS NOT NULL
ORDER BY id`,
    },
    {
        title: "Where a label and the verdict disagree",
        sql: `SELECT ${idSql("x", isNamed)}, verdict, label
FROM execution x
JOIN labelled l ON l.foi = x.foi AND l.rank = x.rank AND l.thread = x.thread AND l.idx = x.idx
WHERE (label = 'abnormal') <> (verdict = 'anomaly')
ORDER BY id`,
    },
    {
        title: "Messages by rank",
        sql: `SELECT 'rank ' || rank AS rank, sum(sends) AS sent, sum(recvs) AS received
FROM location
GROUP BY location.rank
HAVING sum(sends) + sum(recvs) > 0
ORDER BY location.rank`,
    },
    {
        title: "Which tables there are, with their columns",
        sql: tablesSql,
    },
];

export const sqlExamples = computed(() => examplesOf((run.value?.fois.length ?? 0) > 1));
