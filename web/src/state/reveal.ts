// One call that is chosen, in the timeline and where it is said more of; and bringing it into sight:
// its rank is among those shown, open, and scrolled to.
import { signal } from "@preact/signals";
import { showView } from "./actions";
import { getJson } from "../api/http";
import { CallAt } from "../api/types";
import { area, chosenCall, chosenMessage, openRanks, shownRanks, timeWindow } from "./store";
import { windowShown } from "./timeline_window";

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

/* Shows what the selected execution goes back to, where that is known. */
export const toOrigin = signal<(() => void) | null>(null);

/* A lane of its own, open. */
export function showLane(location: number): void {
    const lanes = shownRanks.value ?? windowShown.value?.locations ?? [];
    if (!lanes.includes(location)) shownRanks.value = [...lanes, location];
    openRanks.value = { ...openRanks.value, [location]: true };
    soughtLane.value = location;
    showView("timeline");
}

export function reveal(of: CallOfLocation, begin_ns: number, end_ns: number): void {
    const around = Math.max(leastMargin, (end_ns - begin_ns) * margin);
    showLane(of.location);
    timeWindow.value = [begin_ns - around, end_ns + around];
    chosenMessage.value = null;
    area.value = null;
    chosenCall.value = { location: of.location, call: of.call };
    sought.value = chosenCall.value;
    soughtLane.value = null;
}

/* The same of a call of which no more is known than where it is. */
export async function revealCall(of: CallOfLocation): Promise<void> {
    const at = await getJson<CallAt>(`/calls/${of.location}/${of.call}`);
    reveal(of, at.enter_ns, at.leave_ns);
}
