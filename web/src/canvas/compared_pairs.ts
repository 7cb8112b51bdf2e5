// Which execution of a run is put beside which of another one: that of the same rank and number, or those that have the same
// place when each run's are ordered by their time.
//
// Executions of a run are columns; a row is an execution. A pair is chosen by rank, thread and number, or by how executions
// are ordered and a place in that order, from 0.
import { medianOf } from "./median";

export interface ExecutionRows {
    n: number;
    rank: ArrayLike<number>;
    thread: ArrayLike<number>;
    index: ArrayLike<number>;
    enter_ns: ArrayLike<number>;
    duration_ns: ArrayLike<number>;
}

export const pairings = ["same", "longest", "typical"] as const;
export type Pairing = (typeof pairings)[number];

export interface Place {
    rank: number;
    thread: number;
}

export type PairChosen =
    ({ by: "same"; number: number } & Place) | { by: "longest" | "typical"; number: number };

/* "same:3:17", "same:3.1:17", "longest:0" */
export function printPair(pair: PairChosen): string {
    if (pair.by !== "same") return `${pair.by}:${pair.number}`;
    return `same:${printPlace(pair)}:${pair.number}`;
}

export function printPlace({ rank, thread }: Place): string {
    return thread ? `${rank}.${thread}` : String(rank);
}

export function readPlace(said: string): Place | null {
    const [, rank, thread] = /^\s*(\d{1,7})(?:\.(\d{1,5}))?\s*$/.exec(said) ?? [];
    return rank === undefined ? null : { rank: Number(rank), thread: Number(thread ?? 0) };
}

export function readPair(said: string): PairChosen | null {
    const [, by, place, number] =
        /^(same|longest|typical):(?:([\d.]+):)?(\d{1,10})$/.exec(said) ?? [];
    if (by === "same") {
        const at = readPlace(place ?? "");
        return at && { by, ...at, number: Number(number) };
    }
    if (by !== "longest" && by !== "typical") return null;
    return place === undefined ? { by, number: Number(number) } : null;
}

/* The executions of a run by where they were, and by their number there. */
export interface Index {
    places: Place[] /* by rank, then thread */;
    rowOf: (place: Place, number: number) => number /* -1: there is none */;
    rowsAt: (place: Place) => ReadonlyMap<number, number> /* number -> row */;
    ordered: (by: "longest" | "typical") => Uint32Array;
}

const noRows: ReadonlyMap<number, number> = new Map();
export const keyOf = ({ rank, thread }: Place) => rank * 65536 + thread;

export function indexOf(rows: ExecutionRows): Index {
    const at = new Map<number, Map<number, number>>();
    const places: Place[] = [];
    for (let i = 0; i < rows.n; i++) {
        const place = { rank: rows.rank[i], thread: rows.thread[i] };
        let those = at.get(keyOf(place));
        if (!those) {
            at.set(keyOf(place), (those = new Map()));
            places.push(place);
        }
        those.set(rows.index[i], i);
    }
    places.sort((a, b) => keyOf(a) - keyOf(b));
    const known = new Map<string, Uint32Array>();
    const order = (by: "longest" | "typical") => {
        const middle = by === "typical" ? (medianOf(rows.duration_ns) ?? 0) : 0;
        const by_ns = Float64Array.from({ length: rows.n }, (_, i) =>
            by === "typical" ? Math.abs(rows.duration_ns[i] - middle) : -rows.duration_ns[i],
        );
        return Uint32Array.from({ length: rows.n }, (_, i) => i).sort(
            (a, b) => by_ns[a] - by_ns[b] || a - b,
        );
    };
    return {
        places,
        rowOf: (place, number) => at.get(keyOf(place))?.get(number) ?? -1,
        rowsAt: (place) => at.get(keyOf(place)) ?? noRows,
        ordered: (by) => {
            if (!known.has(by)) known.set(by, order(by));
            return known.get(by)!;
        },
    };
}

/* Rows of both, or -1. */
export function rowsOfPair(pair: PairChosen, [a, b]: [Index, Index]): [number, number] {
    const of = (index: Index) =>
        pair.by === "same"
            ? index.rowOf(pair, pair.number)
            : (index.ordered(pair.by)[pair.number] ?? -1);
    return [of(a), of(b)];
}

/* Of the same rank and number in both, the pair in which each is nearest to the median of its run; null: they have none in common. */
export function typicalPair(
    [a, b]: [ExecutionRows, ExecutionRows],
    other: Index,
): PairChosen | null {
    const [middleA, middleB] = [medianOf(a.duration_ns) ?? 0, medianOf(b.duration_ns) ?? 0];
    const far = (ns: number, middle: number) => Math.abs(ns - middle) / Math.max(1, middle);
    let best: PairChosen | null = null;
    let least = Infinity;
    for (let i = 0; i < a.n; i++) {
        const place = { rank: a.rank[i], thread: a.thread[i] };
        const k = other.rowOf(place, a.index[i]);
        if (k < 0) continue;
        const apart = far(a.duration_ns[i], middleA) + far(b.duration_ns[k], middleB);
        if (apart >= least) continue;
        least = apart;
        best = { by: "same", ...place, number: a.index[i] };
    }
    return best;
}

/* The next number that both have, or place in the order; where there is none, the same. */
export function stepPair(pair: PairChosen, by: 1 | -1, [a, b]: [Index, Index]): PairChosen {
    if (pair.by !== "same") {
        const most = Math.min(a.ordered(pair.by).length, b.ordered(pair.by).length) - 1;
        return { ...pair, number: Math.min(Math.max(pair.number + by, 0), Math.max(0, most)) };
    }
    const other = b.rowsAt(pair);
    let next: number | null = null;
    for (const number of a.rowsAt(pair).keys()) {
        const isBeyond = by > 0 ? number > pair.number : number < pair.number;
        const isNearer =
            next === null || Math.abs(number - pair.number) < Math.abs(next - pair.number);
        if (isBeyond && isNearer && other.has(number)) next = number;
    }
    return next === null ? pair : { ...pair, number: next };
}

/* The same number on the next rank or thread that both have; where that has no such number, the last one there. */
export function stepPlace(pair: PairChosen, by: 1 | -1, [a, b]: [Index, Index]): PairChosen {
    if (pair.by !== "same") return pair;
    const key = keyOf(pair);
    const beyond = a.places.filter((place) =>
        by > 0 ? keyOf(place) > key : keyOf(place) < key,
    );
    const both = beyond.filter((place) => b.rowsAt(place).size > 0);
    const next = by > 0 ? both[0] : both[both.length - 1];
    return next ? nearestOf({ by: "same", ...next, number: pair.number }, [a, b]) : pair;
}

/* With a number that both have there: that one, or the last below it, or the first. */
export function nearestOf(pair: PairChosen, [a, b]: [Index, Index]): PairChosen {
    if (pair.by !== "same") return pair;
    const other = b.rowsAt(pair);
    const common = [...a.rowsAt(pair).keys()].filter((number) => other.has(number));
    if (!common.length || common.includes(pair.number)) return pair;
    common.sort((x, y) => x - y);
    const below = common.filter((number) => number < pair.number);
    return { ...pair, number: below.length ? below[below.length - 1] : common[0] };
}

/* Of each place the execution that has most of a time, by row. */
export function executionsDuring(
    rows: ExecutionRows,
    begin_ns: number,
    end_ns: number,
): (place: Place) => number {
    const best = new Map<number, { row: number; ns: number }>();
    for (let i = 0; i < rows.n; i++) {
        const leave = rows.enter_ns[i] + rows.duration_ns[i];
        const ns = Math.min(leave, end_ns) - Math.max(rows.enter_ns[i], begin_ns);
        if (ns <= 0) continue;
        const key = keyOf({ rank: rows.rank[i], thread: rows.thread[i] });
        if (ns > (best.get(key)?.ns ?? 0)) best.set(key, { row: i, ns });
    }
    return (place) => best.get(keyOf(place))?.row ?? -1;
}
