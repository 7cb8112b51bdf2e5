// One call that is chosen, in the timeline and where it is said more of; and bringing it into sight:
// its rank is among those shown, open, and scrolled to.
import { batch, signal } from "@preact/signals";
import { getJson } from "../api/http";
import { Act } from "./acts";
import { showView } from "./shown_views";
import { CallAt } from "../api/types";
import {
    area,
    chosenCall,
    chosenCollective,
    chosenMessage,
    openRanks,
    shownRanks,
    timeWindow,
} from "./store";
import { askedLanes } from "./timeline";

const margin = 0.3; /* of its time, on both sides */
const leastMargin = 25; /* ns */

export interface CallOfLocation {
    location: number;
    call: number; /* row of the location */
}

/* What the timeline has to scroll to once it has it; null: it has. */
export const sought = signal<CallOfLocation | null>(null);

/* The same of a lane of which no call is chosen. */
export const soughtLane = signal<number | null>(null);

/* A lane of its own, open. */
export function showLane(location: number): void {
    const lanes = shownRanks.value ?? askedLanes.value;
    if (!lanes.includes(location)) shownRanks.value = [...lanes, location];
    openRanks.value = { ...openRanks.value, [location]: true };
    soughtLane.value = location;
    showView("timeline");
}

/* Of a lane that is there, in the window as it is. */
export function chooseCall({ location, call }: CallOfLocation): void {
    chosenMessage.value = null;
    chosenCollective.value = null;
    area.value = null;
    chosenCall.value = { location, call };
    sought.value = chosenCall.value;
    soughtLane.value = null;
}

export function reveal(of: CallOfLocation, begin_ns: number, end_ns: number): void {
    const around = Math.max(leastMargin, (end_ns - begin_ns) * margin);
    batch(() => {
        showLane(of.location);
        timeWindow.value = [begin_ns - around, end_ns + around];
        chooseCall(of);
    });
}

/* The same of a call of which no more is known than where it is. */
export function revealing({ location, call }: CallOfLocation): Act {
    return async (abort) => {
        const at = await getJson<CallAt>(`/calls/${location}/${call}`, abort);
        return () => reveal({ location, call }, at.enter_ns, at.leave_ns);
    };
}
