// Which lanes the timeline shows, as a text: "0-3, 7, 12.2, 9.*" are ranks 0 to 3 and 7, thread 2 of rank 12
// and all threads of rank 9.
import { Location } from "../api/types";

export const mostLanes = 256; /* beyond it a lane has no room, and a link no end */

export function printLanes(ids: number[], locations: Location[]): string {
    const of = new Map(locations.map((l) => [l.id, l]));
    const ranks: number[] = [];
    const threads: string[] = [];
    for (const id of ids) {
        const l = of.get(id);
        if (l?.thread) threads.push(`${l.rank}.${l.thread}`);
        else if (l) ranks.push(l.rank);
    }
    ranks.sort((a, b) => a - b);
    const parts: string[] = [];
    for (let i = 0; i < ranks.length;) {
        let end = i;
        while (ranks[end + 1] === ranks[end] + 1) end++;
        parts.push(
            end > i + 1 ? `${ranks[i]}-${ranks[end]}` : ranks.slice(i, end + 1).join(", "),
        );
        i = end + 1;
    }
    return [...parts, ...threads].join(", ");
}

/* Locations in the order said; null when it is no such text, or names none. Of more than there is
   room for, the first. */
export function readLanes(
    text: string,
    locations: Location[],
    most = mostLanes,
): number[] | null {
    const found = new Set<number>();
    const add = (is: (l: Location) => boolean) => {
        for (const l of locations) if (is(l)) found.add(l.id);
    };
    for (const part of text.split(/[\s,]+/).filter(Boolean)) {
        const [, from, to, thread] = /^(\d+)(?:-(\d+)|\.(\d+|\*))?$/.exec(part) ?? [];
        if (from === undefined) return null;
        const [first, last] = [Number(from), Number(to ?? from)];
        add(
            (l) =>
                l.rank >= first &&
                l.rank <= last &&
                (thread === "*" || l.thread === Number(thread ?? 0)),
        );
    }
    return found.size ? [...found].slice(0, most) : null;
}

/* With so many ranks on either side of one. */
export function lanesBeside(id: number, by: number, locations: Location[]): number[] {
    const own = locations.find((l) => l.id === id);
    if (!own) return [id];
    return locations
        .filter((l) => l.thread === own.thread && Math.abs(l.rank - own.rank) <= by)
        .map((l) => l.id);
}
