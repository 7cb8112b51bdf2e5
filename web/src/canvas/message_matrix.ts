// Who sent how much to whom: rows of senders, columns of receivers, each of one rank or of neighbouring ones.
import { Heat } from "./heat";

/* What GET /messages/matrix says: a value for each pair of rows that has messages. */
export interface MessageMatrix {
    rows: number; /* and as many columns */
    ranks_per_row: number;
    unmatched: number;
    is_estimate: boolean;
    rank: Uint32Array;
    from: Uint32Array;
    to: Uint32Array;
    messages: Float64Array;
    bytes: Float64Array;
    transfer_ns: Float64Array;
    longest_ns: Float64Array;
    wait_ns: Float64Array;
    longest_wait_ns: Float64Array;
}

export type Measured =
    "bytes" | "messages" | "mean_ns" | "longest_ns" | "wait_ns" | "longest_wait_ns";

/* Of the pair of rows that stands at `i`. */
export function measured(of: MessageMatrix, by: Measured, i: number): number {
    return by === "mean_ns" ? of.transfer_ns[i] / of.messages[i] : of[by][i];
}

export function heatOf(of: MessageMatrix, by: Measured): Heat {
    const value = new Float64Array(of.rows * of.rows);
    for (let i = 0; i < of.from.length; i++)
        value[of.from[i] * of.rows + of.to[i]] = measured(of, by, i);
    return { rows: of.rows, width: of.rows, value };
}

/* Where a pair of rows stands; -1: it has no messages. */
export function pairAt(of: MessageMatrix, from: number, to: number): number {
    for (let i = 0; i < of.from.length; i++)
        if (of.from[i] === from && of.to[i] === to) return i;
    return -1;
}

/* Ranks of a row. */
export function ranksOfRow(of: MessageMatrix, row: number): number[] {
    const first = row * of.ranks_per_row;
    return Array.from(of.rank.subarray(first, first + of.ranks_per_row));
}

/* "rank 3", "ranks 6-8". */
export function rowName(of: MessageMatrix, row: number): string {
    const ranks = ranksOfRow(of, row);
    return ranks.length > 1
        ? `ranks ${ranks[0]}-${ranks[ranks.length - 1]}`
        : `rank ${ranks[0]}`;
}

/* All pairs, those of most first. */
export function pairsBy(of: MessageMatrix, by: Measured): number[] {
    return Array.from(of.from.keys()).sort(
        (a, b) => measured(of, by, b) - measured(of, by, a) || a - b,
    );
}

export function totalOf(values: Float64Array): number {
    return values.reduce((sum, value) => sum + value, 0);
}
