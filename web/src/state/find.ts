// What can be found by a text: functions (their calls one after another, the longest and the shortest, also those on one
// rank), ranks and the slowest execution on each, executions by their id, and call paths of the selected execution.
import { Location, Region } from "../api/types";
import { Details, Executions } from "./store";

export interface CallsItem {
    kind: "function" | "longest" | "shortest";
    region: number;
    name: string;
    calls: number;
    locations?: number[]; /* where alone; without: anywhere */
    nth?: number; /* the first hit is the one with this place, from 1 */
}
export type Item =
    | CallsItem
    | { kind: "rank"; location: number; name: string }
    | { kind: "slowest" | "execution"; tree: number; name: string }
    | { kind: "path"; path: string[]; name: string };

export interface Known {
    regions: Region[];
    locations: Location[];
    executions: Executions | null;
    details: Details | null;
    paths: string[][];
}

const mostOfAKind = 8;
const leastOfPath = 2; /* letters: one is in nearly all of them */

/* 0: the name itself; 1: it begins so; 2: it is in there; 3: it is not. */
function nearness(name: string, text: string): number {
    const lower = name.toLowerCase();
    return lower === text ? 0 : lower.startsWith(text) ? 1 : lower.includes(text) ? 2 : 3;
}

function functionsOf({ regions }: Known, text: string): CallsItem[] {
    return regions
        .map((r) => ({
            r,
            near: Math.min(nearness(r.short_name, text), nearness(r.name, text)),
        }))
        .filter(({ r, near }) => near < 3 && r.calls > 0)
        .sort((a, b) => a.near - b.near || b.r.calls - a.r.calls)
        .slice(0, mostOfAKind)
        .map(({ r }) => ({
            kind: "function",
            region: r.id,
            name: r.short_name,
            calls: r.calls,
        }));
}

function slowestOn({ executions, details }: Known, rank: number): Item[] {
    if (!executions || !details) return [];
    let best = -1;
    for (let i = 0; i < details.rank.length; i++)
        if (
            details.rank[i] === rank &&
            (best < 0 || executions.duration_ns[i] > executions.duration_ns[best])
        )
            best = i;
    return best < 0
        ? []
        : [{ kind: "slowest", tree: best, name: `slowest execution on rank ${rank}` }];
}

function ranksOf(known: Known, rank: number, isSlowest: boolean): Item[] {
    const lanes = known.locations.filter((l) => l.rank === rank);
    const slowest = slowestOn(known, rank);
    const ranks = lanes.slice(0, mostOfAKind).map((l): Item => ({
        kind: "rank",
        location: l.id,
        name: l.thread ? `rank ${rank}, thread ${l.thread}` : `rank ${rank}`,
    }));
    return isSlowest ? slowest : [...ranks, ...slowest];
}

function executionOf({ details }: Known, text: string): Item[] {
    const [, rank, thread = 0, index] = /^#?(\d+)(?:\.(\d+))?-(\d+)$/.exec(text) ?? [];
    if (!details || index === undefined) return [];
    for (let i = 0; i < details.rank.length; i++)
        if (
            details.rank[i] === Number(rank) &&
            details.thread[i] === Number(thread) &&
            details.index[i] === Number(index)
        )
            return [
                { kind: "execution", tree: i, name: `execution ${text.replace(/^#?/, "#")}` },
            ];
    return [];
}

function pathsOf({ paths }: Known, text: string): Item[] {
    if (text.length < leastOfPath) return [];
    return paths
        .filter((path) => path.join(" > ").toLowerCase().includes(text))
        .slice(0, mostOfAKind)
        .map((path) => ({ kind: "path", path, name: path.slice(1).join(" > ") || path[0] }));
}

/* "5th longest solve on rank 3" */
const extreme =
    /^(?:(\d{1,3})(?:st|nd|rd|th)? )?(longest|shortest) (?:calls? )?(?:of )?(.+?)(?: on rank (\d+))?$/;

/* Null: the text does not ask for the longest or shortest calls. */
function extremesOf(known: Known, text: string): Item[] | null {
    const [, nth, kind, name, rank] = extreme.exec(text) ?? [];
    if (!name) return null;
    const there = known.locations.filter((l) => l.rank === Number(rank)).map((l) => l.id);
    if (rank && !there.length) return [];
    return functionsOf(known, name).map((f) => ({
        ...f,
        kind: kind as "longest" | "shortest",
        name: rank ? `${f.name} on rank ${Number(rank)}` : f.name,
        ...(rank && { locations: there }),
        ...(Number(nth) > 1 && { nth: Number(nth) }),
    }));
}

/* Best first; a text may also say which it wants: "longest solve", "slowest on rank 3". */
export function itemsFor(said: string, known: Known): Item[] {
    const text = said.trim().toLowerCase().replace(/\s+/g, " ");
    if (!text) return [];
    const extremes = extremesOf(known, text);
    if (extremes) return extremes;
    const [, rank] = /(?:^|\b(?:on )?rank )(\d+)$/.exec(text) ?? [];
    const functions = functionsOf(known, text);
    const longest = functions.slice(0, 1).map((f): Item => ({ ...f, kind: "longest" }));
    return [
        ...executionOf(known, text),
        ...(rank ? ranksOf(known, Number(rank), text.startsWith("slowest")) : []),
        ...functions.slice(0, 1),
        ...longest,
        ...functions.slice(1),
        ...pathsOf(known, text),
    ];
}
