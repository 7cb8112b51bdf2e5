// From call to call in the timeline, with the arrow keys: to the one before or after it in its depth of the
// lane, to its caller, to the first that it called; and where there is none above or below, to the lane there.
import { CallAt } from "../api/types";
import { Calls } from "./rows";
import { Span } from "./window";

export type Step = "before" | "after" | "up" | "down" | "lane-up" | "lane-down";

const inside = 0.1; /* of the window: what comes into it comes so far from its edge */

/* The call beside, on its own lane; null: there is none. */
export function besideCall(at: CallAt, step: Step): number | null {
    const of: Partial<Record<Step, number | null>> = {
        before: at.before,
        after: at.after,
        up: at.parent,
        down: at.first_child,
    };
    return of[step] ?? null;
}

/* The call of a lane at a time, of those that are no deeper than a depth the deepest; else the nearest. */
export function callThen(
    calls: Calls,
    location: number,
    ns: number,
    depth: number,
): number | null {
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < calls.n; i++) {
        if (calls.location[i] !== location || calls.depth[i] > depth) continue;
        const apart = Math.max(calls.begin_ns[i] - ns, ns - calls.end_ns[i], 0);
        const isDeeper = apart === least && calls.depth[i] > calls.depth[best];
        if (apart < least || isDeeper) {
            best = i;
            least = apart;
        }
    }
    return best < 0 ? null : calls.call[best];
}

/* The window, moved as little as need be for a call to be seen in it. */
export function windowWith([begin, end]: Span, at: CallAt): Span {
    const span = end - begin;
    if (at.leave_ns > begin && at.enter_ns < end && at.leave_ns - at.enter_ns >= span / 2)
        return [begin, end];
    const [from, to] = [begin + inside * span, end - inside * span];
    const isSeen = at.enter_ns >= begin && at.leave_ns <= end;
    if (isSeen) return [begin, end];
    const by =
        at.enter_ns < begin
            ? at.enter_ns - from
            : Math.min(at.leave_ns - to, at.enter_ns - from);
    return [begin + by, end + by];
}
