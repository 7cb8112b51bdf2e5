// What the selected execution goes back to, shown in the timeline.
import { CauseLink, Shown } from "../api/types";
import { Blame, blameOf } from "../format/blame";
import { Origin, originOf } from "../format/origin";
import { goOn } from "./acts";
import { locationOf } from "./places";
import { reveal, showLane } from "./reveal";
import { shownQuery } from "./selected";
import { foi } from "./store";

/* Of an execution of this run. */
export const blameNow = (of: Shown): Blame => blameOf(of, foi.value?.outcome);

export function showLink(link: CauseLink): void {
    const location = locationOf(link.rank, link.thread)?.id;
    if (location !== undefined)
        reveal({ location, call: link.call }, link.begin_ns, link.end_ns);
}

/* Of a rank whose call is not known, its lane while it was waited for. */
export function showOrigin(origin: Origin, last: CauseLink): void {
    showLink(last);
    const location = origin.rank === null ? undefined : locationOf(origin.rank, 0)?.id;
    if (!origin.link && location !== undefined) showLane(location);
}

/* Of the execution that is selected now, once it is here. */
export function goToOrigin(): void {
    goOn(async () => {
        const it = await shownQuery.settled();
        const origin = it && originOf(it.cause, it.cause_end);
        const last = origin && (origin.link ?? it.cause?.[it.cause.length - 1]);
        return last ? () => showOrigin(origin, last) : null;
    });
}
