// Going from call to call in the timeline with the arrow keys: asks what is beside the one that is chosen, chooses that, and
// moves the window along.
import { CallAt } from "../api/types";
import { getJson } from "../api/http";
import { besideCall, callThen, Step, windowWith } from "../canvas/call_steps";
import { clampSpan } from "../canvas/window";
import { goOn } from "./acts";
import { CallOfLocation, chooseCall } from "./reveal";
import { shownQuery } from "./selected";
import { chosenCall, timeWindow } from "./store";
import { lanesNow, windowNow, windowSettled, wholeRun } from "./timeline";

async function laneBeside(
    { location }: CallOfLocation,
    step: Step,
    at: CallAt,
): Promise<CallOfLocation | null> {
    const data = await windowSettled();
    if (!data) return null;
    const lanes = lanesNow.value.map((lane) => lane.location);
    const by = step === "up" || step === "lane-up" ? -1 : 1;
    const middle = (at.enter_ns + at.leave_ns) / 2;
    for (let k = lanes.indexOf(location) + by; k >= 0 && k < lanes.length; k += by) {
        const call = callThen(data.calls, lanes[k], middle, at.depth);
        if (call !== null) return { location: lanes[k], call };
    }
    return null;
}

async function besideOf(
    from: CallOfLocation,
    step: Step,
    at: CallAt,
): Promise<CallOfLocation | null> {
    const call = besideCall(at, step);
    if (call !== null) return { location: from.location, call };
    return step === "before" || step === "after" ? null : laneBeside(from, step, at);
}

/* Goes there, and shows it. Where there is nothing, it stays; where no call is chosen, that of the execution is. */
export function walk(step: Step): void {
    goOn(async (abort) => {
        const fetchCall = ({ location, call }: CallOfLocation) =>
            getJson<CallAt>(`/calls/${location}/${call}`, abort);
        const from = chosenCall.value;
        if (!from) {
            const it = await shownQuery.settled();
            return it && (() => chooseCall({ location: it.location, call: it.call }));
        }
        const to = await besideOf(from, step, await fetchCall(from));
        if (!to) return null;
        const there = await fetchCall(to);
        return () => {
            const now = windowNow.value;
            const moved = now && clampSpan(windowWith(now, there), wholeRun.value);
            if (moved && moved.join() !== now.join()) timeWindow.value = moved;
            chooseCall(to);
        };
    });
}
