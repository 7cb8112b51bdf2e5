// Which records are asked for: by the form, or by a click on a rank, a region, a moment.
import { signal } from "@preact/signals";

export const pageSize = 20;

export interface RecordsAsked {
    collection: "anomalies" | "normalexecs";
    order: "severity" | "score" | "newest" | "oldest" | "longest";
    rank: number | null;
    region: number | null;
    from: number | null; /* ns */
    to: number | null;
    least_ns: number | null;
    offset: number;
}

const anything: RecordsAsked = {
    collection: "anomalies",
    order: "severity",
    rank: null,
    region: null,
    from: null,
    to: null,
    least_ns: null,
    offset: 0,
};

export const recordsAsked = signal<RecordsAsked>(anything);

/* These and no other conditions. */
export function askRecords(what: Partial<RecordsAsked>): void {
    const { collection, order } = recordsAsked.value;
    recordsAsked.value = { ...anything, collection, order, ...what };
}

/* One condition more, or another page. */
export function changeRecords(what: Partial<RecordsAsked>): void {
    recordsAsked.value = { ...recordsAsked.value, offset: 0, ...what };
}

export function recordsPath(asked: RecordsAsked): string {
    const given = Object.entries(asked).filter(([, value]) => value !== null);
    const params = new URLSearchParams(given.map(([key, value]) => [key, String(value)]));
    return `/live/records?${params}&limit=${pageSize}`;
}
