// What each call path adds to the change, as a table that can be sorted; and how kinds of execution
// changed.
import { ChangedKind, ChangedPath, Comparison } from "../api/compare_types";
import { changeOf, formatCalls, formatChange, isSure, signs } from "../format/change";
import { Table } from "../format/csv";
import { formatExcess, formatShare, formatTime } from "../format/units";
import { Sentence } from "./name";
import { Order, SortedHead } from "./sorted_head";
import { verdictWord } from "../format/rank_words";

const mostRows = 500;

interface Column {
    key: string;
    title: string;
    help?: string;
    isWords?: boolean;
    value: (x: ChangedPath) => number | string;
    text: (x: ChangedPath, of: Comparison) => string;
}

function ofWhole(ns: number, of: Comparison): string {
    return formatChange(ns / of.duration_ns.mean[0]);
}

const pathColumns: Column[] = [
    { key: "path", title: "Call path", value: (x) => x.path, text: (x) => x.path },
    {
        key: "verdict",
        title: "Verdict",
        isWords: true,
        value: (x) => x.verdict,
        text: (x) => `${signs[x.verdict]} ${verdictWord(x.verdict)}`,
    },
    {
        key: "change_ns",
        title: "Change",
        help: "of the own time in an execution",
        value: (x) => Math.abs(x.change_ns),
        text: (x) => formatExcess(x.change_ns),
    },
    {
        key: "share",
        title: "Of the whole",
        help: "of the time of an execution before: those of all paths add up to the whole change",
        value: (x) => x.change_ns,
        text: (x, of) => ofWhole(x.change_ns, of),
    },
    {
        key: "before",
        title: "Before",
        help: "own time in an execution",
        value: (x) => x.time_ns[0],
        text: (x) => formatTime(x.time_ns[0]),
    },
    {
        key: "after",
        title: "After",
        help: "own time in an execution",
        value: (x) => x.time_ns[1],
        text: (x) => formatTime(x.time_ns[1]),
    },
    {
        key: "calls",
        title: "Calls before",
        help: "calls in an execution before",
        value: (x) => x.calls[0],
        text: (x) => formatCalls(x.calls[0]),
    },
    {
        key: "now",
        title: "Calls after",
        help: "calls in an execution after",
        value: (x) => x.calls[1],
        text: (x) => formatCalls(x.calls[1]),
    },
];

export function sortPaths(paths: ChangedPath[], { key, isDown }: Order): ChangedPath[] {
    const { value } = pathColumns.find((c) => c.key === key) ?? pathColumns[2];
    const sign = isDown ? -1 : 1;
    return [...paths].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        const by =
            typeof x === "string"
                ? x.localeCompare(y as string)
                : (x as number) - (y as number);
        return sign * by || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
    });
}

export function pathsTable(paths: ChangedPath[]): Table {
    return {
        head: "path,verdict,from,change_ns,share,before_ns,after_ns,calls_before,calls_after,waits,kind".split(
            ",",
        ),
        rows: paths.map((x) => [
            x.path,
            x.verdict,
            x.from,
            x.change_ns,
            x.share,
            ...x.time_ns,
            ...x.calls,
            x.is_waiting,
            x.kind,
        ]),
    };
}

function Note({ x }: { x: ChangedPath }) {
    const said = [
        x.from !== null && `was ${x.from}`,
        x.is_waiting ? "may wait" : "own work",
        x.kind && isSure(x.verdict) && `mostly in executions ${x.kind}`,
    ].filter(Boolean);
    return <small> {said.join("; ")}</small>;
}

export function PathTable(props: {
    of: Comparison;
    paths: ChangedPath[] /* in the order to be shown */;
    order: Order;
    sort: (order: Order) => void;
    chosen: string | null;
    choose?: (path: string) => void;
}) {
    const { of, paths, chosen, choose } = props;
    return (
        <div class="table" tabIndex={0} role="region" aria-label="Table of call paths">
            <table class="changed-paths words-first">
                <SortedHead
                    columns={pathColumns}
                    order={props.order}
                    sort={props.sort}
                    isDownAtFirst={(key) => key !== "path" && key !== "verdict"}
                />
                <tbody>
                    {paths.slice(0, mostRows).map((x) => (
                        <tr key={x.path} class={x.path === chosen ? "chosen" : ""}>
                            {pathColumns.map(({ key, text, isWords }) =>
                                key === "path" ? (
                                    <th scope="row">
                                        {choose ? (
                                            <button
                                                class="quiet"
                                                aria-pressed={x.path === chosen}
                                                onClick={() => choose(x.path)}
                                            >
                                                <Sentence of={x.path} />
                                            </button>
                                        ) : (
                                            <Sentence of={x.path} />
                                        )}
                                        <Note x={x} />
                                    </th>
                                ) : (
                                    <td
                                        class={
                                            isWords ? `words verdict-${x.verdict}` : `of-${key}`
                                        }
                                    >
                                        {text(x, of)}
                                    </td>
                                ),
                            )}
                        </tr>
                    ))}
                </tbody>
            </table>
            {paths.length > mostRows && (
                <p class="dim">{paths.length - mostRows} more are in the CSV file.</p>
            )}
        </div>
    );
}

function shares({ executions: [before, after] }: ChangedKind): string {
    const [was, is] = [before, after].map(formatShare);
    return was === is ? is : `${was} → ${is}`;
}

function kindChange({ time_ns: [before, after] }: ChangedKind): string {
    return before === null || after === null ? "-" : formatChange(changeOf(before, after));
}

export function kindsTable(kinds: ChangedKind[]): Table {
    return {
        head: "executions,verdict,before_ns,after_ns,executions_before,executions_after,path,path_ns".split(
            ",",
        ),
        rows: kinds.map((k) => [
            k.kind,
            k.verdict,
            ...k.time_ns,
            ...k.executions,
            k.path,
            k.path_ns,
        ]),
    };
}

export function KindTable(props: {
    of: Comparison;
    chosen: string | null;
    choose?: (kind: string | null) => void;
}) {
    const { of, chosen, choose } = props;
    return (
        <div class="table" tabIndex={0} role="region" aria-label="Table of kinds of execution">
            <table class="words-first">
                <thead>
                    <tr>
                        <th scope="col">Executions</th>
                        <th scope="col" class="words">
                            Verdict
                        </th>
                        <th scope="col">Change</th>
                        <th scope="col">Before</th>
                        <th scope="col">After</th>
                        <th scope="col">Share</th>
                    </tr>
                </thead>
                <tbody>
                    {of.kinds.map((k) => (
                        <tr key={k.kind} class={k.kind === chosen ? "chosen" : ""}>
                            <th scope="row">
                                {choose ? (
                                    <button
                                        class="quiet"
                                        aria-pressed={k.kind === chosen}
                                        onClick={() =>
                                            choose(k.kind === chosen ? null : k.kind)
                                        }
                                        title="Show the call paths of these executions only"
                                    >
                                        {k.kind}
                                    </button>
                                ) : (
                                    k.kind
                                )}
                                {k.path !== null && isSure(k.verdict) && (
                                    <small>
                                        {" "}
                                        most of it <Sentence of={k.path} />{" "}
                                        {formatExcess(k.path_ns)}
                                    </small>
                                )}
                            </th>
                            <td class={`words verdict-${k.verdict}`}>
                                {signs[k.verdict]} {verdictWord(k.verdict)}
                            </td>
                            <td>{kindChange(k)}</td>
                            {k.time_ns.map((ns) => (
                                <td>{ns === null ? "-" : formatTime(ns)}</td>
                            ))}
                            <td>{shares(k)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
