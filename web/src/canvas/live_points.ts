// The points of a program that is live, as they come in: appended, and forgotten when they are
// too many. Columns have the names of those of a run, so that the same code draws them.
import { Bundle } from "../api/columns";
import { sample } from "./sampling";

export interface LivePoints {
    n: number;
    id: Float64Array;
    enter_ns: Float64Array;
    exit_ns: Float64Array; /* the sum of both */
    duration_ns: Float64Array;
    exclusive_ns: Float64Array;
    rank: Uint32Array;
    program: Uint32Array;
    thread: Uint32Array;
    region: Uint32Array;
    messages: Uint32Array;
    vertices: Uint32Array;
    score: Float32Array;
    verdict: Uint8Array; /* 1: anomaly */
    isJudged: Uint8Array; /* 0: there were too few to compare it with */
    kind: Uint8Array; /* 1: execution of a function of interest */
    index: Uint32Array; /* of the executions, or calls, of its thread */
    label: Int8Array; /* none: people do not label what is live */
    location: Uint32Array; /* 0 */
}

const fromServer = [
    "id",
    "enter_ns",
    "duration_ns",
    "exclusive_ns",
    "rank",
    "program",
    "thread",
    "region",
    "index",
    "messages",
    "vertices",
    "score",
    "verdict",
    "isJudged",
    "kind",
] as const;

/* When calls, or executions, ended. */
export function exitTimes(of: {
    enter_ns: ArrayLike<number>;
    duration_ns: ArrayLike<number>;
}): Float64Array {
    return Float64Array.from(of.enter_ns, (enter, i) => enter + of.duration_ns[i]);
}

/* The server says 2 for what is not judged; here only an anomaly is other than 0. */
export function pointsOf({ columns }: Bundle): LivePoints {
    const n = columns.id.length;
    const { verdict } = columns as { verdict: Uint8Array };
    return {
        index: new Uint32Array(n),
        isJudged: verdict.map((v) => (v === 2 ? 0 : 1)),
        ...columns,
        n,
        exit_ns: exitTimes(columns as unknown as LivePoints),
        verdict: verdict.map((v) => (v === 1 ? 1 : 0)),
        label: new Int8Array(n),
        location: new Uint32Array(n),
    } as unknown as LivePoints;
}

/* Some of the rows of `a`, and all of `b`. */
function join(a: LivePoints, rows: number[], b: LivePoints): LivePoints {
    const n = rows.length + b.n;
    const columns: Record<string, unknown> = {};
    for (const name of fromServer) {
        const old = a[name] as Float64Array;
        const column = new (old.constructor as Float64ArrayConstructor)(n);
        for (let i = 0; i < rows.length; i++) column[i] = old[rows[i]];
        column.set(b[name] as Float64Array, rows.length);
        columns[name] = column;
    }
    return pointsOf({ header: {}, columns: columns as Bundle["columns"] });
}

/*
 * Old points and new ones. Those with an id below `oldest` go, as the server has forgotten them;
 * of more than `most` the oldest normal ones go, then the oldest anomalies: these are `left`, so many of them.
 */
export function append(
    old: LivePoints,
    fresh: LivePoints,
    oldest: number,
    most: number,
): { points: LivePoints; left: number } {
    let rows: number[] = [];
    for (let i = 0; i < old.n; i++) if (old.id[i] >= oldest) rows.push(i);
    const known = rows.length + fresh.n;
    let tooMany = known - most;
    rows = rows.filter((i) => old.verdict[i] || tooMany-- <= 0);
    tooMany = rows.length + fresh.n - most;
    const points = join(old, tooMany > 0 ? rows.slice(tooMany) : rows, fresh);
    return { points, left: known - points.n };
}

const nobody: ReadonlySet<number> = new Set();

export interface Drawn {
    order: Uint32Array; /* rows: the normal ones first, so that anomalies lie on top */
    firstKept: number; /* where in `order` the anomalies begin */
    anomalies: number;
    unjudged: number;
}

/* All anomalies and `percent` of the others; of the newest `windowNs` alone, null: of all. */
export function drawnOf(all: LivePoints, percent: number, windowNs: number | null): Drawn {
    let end = 0;
    for (let i = 0; i < all.n; i++) end = Math.max(end, all.enter_ns[i]);
    const isIn =
        windowNs === null ? null : (row: number) => all.enter_ns[row] >= end - windowNs;
    const { order, firstKept } = sample(all.verdict, all.label, percent, nobody, isIn);
    const unjudged = order.filter((row) => !all.isJudged[row]).length;
    return { order, firstKept, anomalies: order.length - firstKept, unjudged };
}
