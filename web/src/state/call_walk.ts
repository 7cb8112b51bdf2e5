// Calls of one function, one after another: by time, or from the longest to the shortest; of the whole run, or of
// those with a part in an area of the timeline.
import { signal } from "@preact/signals";
import { ApiError, getJson } from "../api/http";
import { NextCall } from "../api/types";
import { regionName } from "./names";
import { CallOfLocation, reveal } from "./reveal";
import { Area, notice, run } from "./store";

export type Step = "next" | "previous";

export interface CallSearch {
    region: number;
    isByLength: boolean;
    within?: Area | null;
}

/* As the server measures it: without an end, what happened at the very last moment of the run is in it. */
export function areaQuery(of: Area): string {
    const [begin, end] = [Math.floor(of.begin), Math.ceil(of.end)];
    const until = end < run.value!.end_ns ? `&end=${end}` : "";
    return `begin=${begin}${until}&locations=${of.locations.join()}`;
}

/* The one behind `from`, at first the first; null: there is none. */
export async function searchCall(
    of: CallSearch,
    from: CallOfLocation | null,
    step: Step,
): Promise<NextCall | null> {
    const parts = [`region=${of.region}`, `step=${step}`];
    if (of.isByLength) parts.push("order=longest");
    if (from) parts.push(`from=${from.location}.${from.call}`);
    if (of.within) parts.push(areaQuery(of.within));
    try {
        return await getJson<NextCall>(`/search/next?${parts.join("&")}`);
    } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
    }
}

/* Where a walk from the longest call of a function to the shortest is. */
export interface Walk {
    region: number;
    within: Area | null;
    hit: NextCall;
}
export const walk = signal<Walk | null>(null);

/* Goes on from the call that is chosen; by keys, too. */
export const toBeside = signal<((step: Step) => void) | null>(null);

async function go(of: Omit<Walk, "hit">, from: CallOfLocation | null, step: Step) {
    const name = regionName(of.region);
    try {
        const hit = await searchCall({ ...of, isByLength: true }, from, step);
        if (hit) {
            reveal(hit, hit.enter_ns, hit.leave_ns);
            walk.value = { ...of, hit };
        } else {
            const which = step === "next" ? "shortest" : "longest";
            notice.value = { text: `That was the ${which} call of ${name}.`, isError: false };
        }
    } catch (error) {
        const text = `Calls of ${name} cannot be found: ${(error as Error).message}.`;
        notice.value = { text, isError: true };
    }
}

export function goToLongest(region: number, within: Area | null): Promise<void> {
    return go({ region, within }, null, "next");
}

/* The walk that led to a call, if one did. */
export function walkAt(call: CallOfLocation): Walk | null {
    const now = walk.value;
    return now && now.hit.location === call.location && now.hit.call === call.call ? now : null;
}

/* The next shorter one, or the next longer one. */
export function goBeside(region: number, call: CallOfLocation, step: Step): Promise<void> {
    return go({ region, within: walkAt(call)?.within ?? null }, call, step);
}
