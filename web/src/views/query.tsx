// SQL about the run: a field to write it, what it found as a table or a chart, and what can be tried. It only reads.
import { useRef } from "preact/hooks";
import { chartOf } from "../canvas/query_chart";
import { formatCount, plural } from "../format/units";
import { select } from "../state/actions";
import {
    askSql,
    executionOf,
    mostRows,
    mostSavedRows,
    nameOfTree,
    RowOfAnswer,
    SqlAnswer,
    sqlExamples,
    sqlQuery,
    sqlText,
    SqlValue,
    tablesSql,
} from "../state/sql";
import { useQuery } from "../state/query";
import { notice, sqlAsked, sqlShows } from "../state/store";
import { Choice } from "./live_panel";
import { Await, Panel } from "./panel";
import { pictureOfSvg, usePicture, useTable } from "./pictures";
import { QueryPicture, valueText } from "./query_chart";
import { tableFigure } from "./table_figure";
import { useOneStop } from "./use_one_stop";

const atFirst = 3; /* examples that are offered where nothing was asked */

function choose(find: () => number | null): void {
    const tree = find();
    if (tree === null)
        notice.value = { text: "The run has no such execution here.", isError: true };
    else select(tree);
}

function textOf(column: string, value: SqlValue): string {
    return typeof value === "number" ? valueText(column, value) : (value ?? "");
}

function Cell({ of, c }: { of: RowOfAnswer; c: number }) {
    const [column, value] = [of.columns[c], of.row[c]];
    const isNumber = typeof value === "number";
    const find = executionOf(of, c);
    const text = textOf(column, value);
    if (find)
        return (
            <td class={isNumber ? "" : "words"}>
                <button
                    class="to-calls"
                    title={`Choose ${isNumber ? (nameOfTree(value) ?? "this execution") : text}`}
                    onClick={() => choose(find)}
                >
                    {isNumber ? String(value) : text}
                </button>
            </td>
        );
    return (
        <td
            class={isNumber ? "" : "words"}
            title={isNumber && text !== String(value) ? String(value) : undefined}
        >
            {value === null ? <span class="dim">NULL</span> : text}
        </td>
    );
}

/* Numbers stand on the right, as the first row has them. */
function Rows({ of: { columns, rows } }: { of: SqlAnswer }) {
    const body = useRef<HTMLTableSectionElement>(null);
    useOneStop(body);
    return (
        <table>
            <thead>
                <tr>
                    {columns.map((column, c) => (
                        <th
                            scope="col"
                            class={typeof rows[0]?.[c] === "number" ? "number" : "words"}
                        >
                            {column}
                        </th>
                    ))}
                </tr>
            </thead>
            <tbody ref={body}>
                {rows.map((row) => (
                    <tr>
                        {row.map((_, c) => (
                            <Cell of={{ columns, row }} c={c} />
                        ))}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

/* How many rows there are, and why not all of them are here. */
function countWords({ rows, total, stopped }: SqlAnswer): string {
    const shown = rows.length;
    const of =
        shown < total
            ? `${formatCount(shown)} of ${stopped ? "at least " : ""}${plural(total, "row")}`
            : plural(total, "row");
    const why = stopped ? `. The query was stopped: ${stopped}` : "";
    const more =
        shown < total && !stopped && total > shown
            ? `. As CSV up to ${formatCount(mostSavedRows)} are saved`
            : "";
    return `${of}${more}${why}.`;
}

function Found({ found }: { found: SqlAnswer }) {
    const chart = chartOf(found.columns, found.rows);
    const isChart = sqlShows.value === "chart";
    const box = useRef<HTMLDivElement>(null);
    usePicture("query", () => {
        const svg = box.current?.querySelector("svg");
        if (svg) return pictureOfSvg(svg);
        const columns = found.columns.map((column, c) => ({
            title: column,
            isWords: typeof found.rows[0]?.[c] !== "number",
            text: (row: SqlValue[]) => textOf(column, row[c]),
        }));
        return tableFigure(columns, found.rows);
    });
    return (
        <>
            <p class="query-count" role="status">
                {countWords(found)}
            </p>
            {isChart && chart && <QueryPicture of={chart} box={box} />}
            {isChart && !chart && (
                <p class="query-count dim">
                    A chart takes two rows or more, and columns of which the first has names or
                    numbers and a later one numbers.
                </p>
            )}
            {(!isChart || !chart) && (
                <div class="table" tabIndex={0} role="region" aria-label="Rows of the query">
                    <Rows of={found} />
                </div>
            )}
        </>
    );
}

/* All rows that the server gives of what was asked, not just those that are seen. */
async function allRows() {
    if (!sqlAsked.value) throw new Error("nothing was asked");
    const { columns, rows } = await askSql(sqlAsked.value, mostSavedRows);
    return { head: columns, rows };
}

/* Where nothing was asked yet: what can be asked about, and a few queries to begin with. */
function Beginning({ run }: { run: (sql: string) => void }) {
    const tables = useQuery("tables", (abort) => askSql(tablesSql, mostRows, abort));
    return (
        <div class="query-begin">
            <p>One SELECT in the SQL of SQLite. It only reads. Ctrl+Enter runs it.</p>
            <ul class="plain" aria-label="To begin with">
                {sqlExamples.value.slice(0, atFirst).map(({ title, sql }) => (
                    <li key={title}>
                        <button onClick={() => run(sql)} title={sql}>
                            {title}
                        </button>
                    </li>
                ))}
            </ul>
            <Await of={tables} what="the tables" empty="">
                {({ rows }) => (
                    <table aria-label="Tables">
                        <thead>
                            <tr>
                                <th scope="col">Table</th>
                                <th scope="col" class="words">
                                    Columns
                                </th>
                            </tr>
                        </thead>
                        <tbody>
                            {rows.map(([table, columns]) => (
                                <tr key={table}>
                                    <th scope="row">{table}</th>
                                    <td class="words">{columns}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                )}
            </Await>
        </div>
    );
}

export function QueryView() {
    const asked = sqlAsked.value;
    const text = sqlText.value;
    const answer = sqlQuery.answer.value;
    const run = (sql: string) => {
        const wanted = sql.trim();
        if (wanted === asked && asked) answer.retry();
        sqlAsked.value = wanted;
    };
    const take = (sql: string) => {
        sqlText.value = sql;
        run(sql);
    };
    useTable("query", allRows);
    const onKey = (event: KeyboardEvent) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        run(text);
    };
    const tools = (
        <>
            <select
                aria-label="Examples"
                title="Queries to begin with"
                value=""
                onChange={(event) => {
                    const example = sqlExamples.value[Number(event.currentTarget.value)];
                    event.currentTarget.value = "";
                    take(example.sql);
                }}
            >
                <option value="">Examples ...</option>
                {sqlExamples.value.map(({ title }, i) => (
                    <option value={String(i)}>{title}</option>
                ))}
            </select>
            <Choice
                label="Shown as"
                value={sqlShows.value}
                options={[
                    ["table", "as a table"],
                    ["chart", "as a chart"],
                ]}
                choose={(as) => (sqlShows.value = as)}
            />
        </>
    );
    return (
        <Panel name="query" tools={tools}>
            <form
                class="query-form"
                onSubmit={(event) => {
                    event.preventDefault();
                    run(text);
                }}
            >
                <textarea
                    aria-label="SQL about this run"
                    placeholder="SELECT ... FROM execution"
                    rows={4}
                    spellcheck={false}
                    autocomplete="off"
                    value={text}
                    onInput={(event) => (sqlText.value = event.currentTarget.value)}
                    onKeyDown={onKey}
                />
                <span class="query-buttons">
                    <button class="primary" disabled={!text.trim()} title="Run it (Ctrl+Enter)">
                        Run
                    </button>
                    {answer.isLoading && (
                        <button type="button" onClick={() => (sqlAsked.value = "")}>
                            Stop
                        </button>
                    )}
                </span>
            </form>
            <div class="query-answer">
                {asked ? (
                    <Await of={answer} what="the rows" empty="">
                        {(found) => <Found found={found} />}
                    </Await>
                ) : (
                    <Beginning run={take} />
                )}
            </div>
        </Panel>
    );
}
