// What an area of the timeline holds, as rows of a table: by function, by rank, or by call path.
import { Measured, MeasuredBy } from "../api/types";
import { Table as Csv } from "../format/csv";
import { TableOrder } from "../state/url";

export interface AreaRow {
    of: Measured;
    name: string; /* of the function, the rank, or the whole path */
    callers: string[]; /* above it, by path */
    kind: string; /* in words; by rank: "" */
}

/* What is said of a region. */
export interface RegionWords {
    name: (region: number) => string;
    kind: (region: number) => string;
}

/* From the outermost caller to the one that called it. */
function callersOf(items: Measured[], of: Measured, name: RegionWords["name"]): string[] {
    const callers: string[] = [];
    for (let at = of.caller ?? null; at !== null; at = items[at].caller)
        callers.unshift(name(items[at].region));
    return callers;
}

export function areaRows(items: Measured[], by: MeasuredBy, words: RegionWords): AreaRow[] {
    return items.map((of) => {
        const callers = by === "path" ? callersOf(items, of, words.name) : [];
        const own = by === "rank" ? `rank ${of.rank}` : words.name(of.region);
        const kind = by === "rank" ? "" : words.kind(of.region);
        return { of, callers, name: [...callers, own].join(" > "), kind };
    });
}

const numbers = ["calls", "total_ns", "own_ns"] as const;
type NumberKey = (typeof numbers)[number];

/* What is no column of this table orders it as nothing does: by own time. */
export function areaKey({ key, isDown }: TableOrder, by: MeasuredBy): TableOrder {
    const isKnown =
        key === "name" ||
        (key === "kind" && by !== "rank") ||
        numbers.includes(key as NumberKey);
    return isKnown ? { key, isDown } : { key: "own_ns", isDown: true };
}

export function sortRows(rows: AreaRow[], order: TableOrder, by: MeasuredBy): AreaRow[] {
    const { key, isDown } = areaKey(order, by);
    const sign = isDown ? -1 : 1;
    const compare = (a: AreaRow, b: AreaRow): number => {
        if (key === "name" && by === "rank") return a.of.rank - b.of.rank;
        if (key === "name") return a.name.localeCompare(b.name);
        if (key === "kind") return a.kind.localeCompare(b.kind);
        return a.of[key as NumberKey] - b.of[key as NumberKey];
    };
    return [...rows].sort(
        (a, b) => sign * compare(a, b) || b.of.own_ns - a.of.own_ns || b.of.calls - a.of.calls,
    );
}

/* kindOf: as files have it. */
export function areaTable(
    rows: AreaRow[],
    by: MeasuredBy,
    kindOf: (region: number) => string,
): Csv {
    const isByRank = by === "rank";
    const head = { region: "function", rank: "rank", path: "path" }[by];
    return {
        head: [head, ...(isByRank ? [] : ["kind"]), ...numbers],
        rows: rows.map(({ of, name }) => [
            isByRank ? of.rank : name,
            ...(isByRank ? [] : [kindOf(of.region)]),
            ...numbers.map((key) => of[key]),
        ]),
    };
}
