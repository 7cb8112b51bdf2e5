// Going from call to call in the timeline: asks what is beside one, chooses it, and moves the window along.
import { CallAt } from "../api/types";
import { getJson } from "../api/http";
import { besideCall, callThen, Step, windowWith } from "../canvas/call_steps";
import { Calls } from "../canvas/rows";
import { Span } from "../canvas/window";
import { CallOfLocation, chooseCall } from "./reveal";

export interface Walk {
    from: CallOfLocation;
    step: Step;
    calls: Calls;
    lanes: number[]; /* locations, from the top */
    window: () => Span;
    show: (window: Span) => void;
}

function laneBeside({ from, step, calls, lanes }: Walk, at: CallAt): CallOfLocation | null {
    const by = step === "up" || step === "lane-up" ? -1 : 1;
    const middle = (at.enter_ns + at.leave_ns) / 2;
    for (let k = lanes.indexOf(from.location) + by; k >= 0 && k < lanes.length; k += by) {
        const call = callThen(calls, lanes[k], middle, at.depth);
        if (call !== null) return { location: lanes[k], call };
    }
    return null;
}

const fetchCall = ({ location, call }: CallOfLocation) =>
    getJson<CallAt>(`/calls/${location}/${call}`);

/* Goes there, and shows it. Where there is nothing, it stays. */
export async function walk(of: Walk): Promise<void> {
    const at = await fetchCall(of.from);
    const beside = besideCall(at, of.step);
    const isAlong = of.step === "before" || of.step === "after";
    const to =
        beside !== null
            ? { location: of.from.location, call: beside }
            : isAlong
              ? null
              : laneBeside(of, at);
    if (!to) return;
    const there = await fetchCall(to);
    const now = of.window();
    const moved = windowWith(now, there);
    if (moved.join() !== now.join()) of.show(moved);
    chooseCall(to);
}
