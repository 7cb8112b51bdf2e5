// Which records are asked for: those of the rank, region and time that are chosen, and what the
// form of the records says besides.
import { signal } from "@preact/signals";

export const pageSize = 20;

export const recordOrders = [
    "severity",
    "cost",
    "score",
    "newest",
    "oldest",
    "longest",
] as const;

export interface RecordsAsked {
    collection: "anomalies" | "normalexecs";
    order: (typeof recordOrders)[number];
    least_ns: number | null;
    offset: number;
}

export interface Place {
    rank: number | null;
    region: number | null;
    span: [number, number] | null;
}

export const anything: RecordsAsked = {
    collection: "anomalies",
    order: "severity",
    least_ns: null,
    offset: 0,
};

export const recordsAsked = signal<RecordsAsked>(anything);

/* One condition more, or another page. */
export function changeRecords(what: Partial<RecordsAsked>): void {
    recordsAsked.value = { ...recordsAsked.value, offset: 0, ...what };
}

export function recordsPath(asked: RecordsAsked, { rank, region, span }: Place): string {
    const all = { ...asked, rank, region, from: span?.[0] ?? null, to: span?.[1] ?? null };
    const given = Object.entries(all).filter(([, value]) => value !== null);
    const params = new URLSearchParams(
        given.map(([key, x]) => [key, String(typeof x === "number" ? Math.round(x) : x)]),
    );
    return `/live/records?${params}&limit=${pageSize}`;
}
