// Calls of one function, one after another: by time, or from the longest to the shortest; of the whole run, or of
// those with a part in an area of the timeline.
import { signal } from "@preact/signals";
import { ApiError, getJson } from "../api/http";
import { NextCall } from "../api/types";
import { Act, goOn, instead } from "./acts";
import { regionName } from "./names";
import { CallOfLocation, reveal } from "./reveal";
import { callQuery } from "./selected";
import { Area, chosenCall, notice, run } from "./store";

export type Step = "next" | "previous";

interface CallSearch {
    region: number;
    isByLength: boolean;
    within?: Area | null;
    locations?: number[]; /* alone; where there is no area */
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
    abort: AbortSignal,
): Promise<NextCall | null> {
    const parts = [`region=${of.region}`, `step=${step}`];
    if (of.isByLength) parts.push("order=longest");
    if (from) parts.push(`from=${from.location}.${from.call}`);
    if (of.within) parts.push(areaQuery(of.within));
    else if (of.locations) parts.push(`locations=${of.locations.join()}`);
    try {
        return await getJson<NextCall>(`/search/next?${parts.join("&")}`, abort);
    } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
    }
}

/* Where a walk from the longest call of a function to the shortest is. */
interface Walk {
    region: number;
    within: Area | null;
    hit: NextCall;
}
export const walk = signal<Walk | null>(null);

type Where = Omit<Walk, "hit">;

async function found(of: Where, hit: NextCall | null, step: Step): Promise<() => void> {
    if (hit)
        return () => {
            reveal(hit, hit.enter_ns, hit.leave_ns);
            walk.value = { ...of, hit };
        };
    const which = step === "next" ? "shortest" : "longest";
    const text = `That was the ${which} call of ${regionName(of.region)}.`;
    return () => (notice.value = { text, isError: false });
}

/* The longest call of a function, of the whole run or of those in an area. */
export function goToLongest(region: number, within: Area | null): void {
    const of = { region, within };
    instead(async (abort) =>
        found(of, await searchCall({ ...of, isByLength: true }, null, "next", abort), "next"),
    );
}

/* The walk that led to a call, if one did. */
export function walkAt(call: CallOfLocation): Walk | null {
    const now = walk.value;
    return now && now.hit.location === call.location && now.hit.call === call.call ? now : null;
}

/* The function of the call that is chosen, and of which of its calls it is one. */
async function whereNow(at: CallOfLocation): Promise<Where | null> {
    const known = walkAt(at);
    if (known) return known;
    const call = await callQuery.settled();
    return call && { region: call.region, within: null };
}

const beside =
    (step: Step): Act =>
    async (abort) => {
        const at = chosenCall.value;
        const of = at && (await whereNow(at));
        if (!of) return null;
        const { region, within } = of;
        const asked = { region, within, isByLength: true };
        return found({ region, within }, await searchCall(asked, at, step, abort), step);
    };

/* From the call that is chosen to the next shorter one of its function, or the next longer one. */
export function goBeside(step: Step): void {
    goOn(beside(step));
}
