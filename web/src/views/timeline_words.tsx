// What is said of what lies under the pointer in the timeline, and of the call that was gone to.
import { CallAt, Shown } from "../api/types";
import { CollectiveColumns } from "../canvas/collectives_draw";
import { Calls, Lane } from "../canvas/rows";
import { CounterDrawn, Found } from "../canvas/timeline_draw";
import { Span } from "../canvas/window";
import { delayWords } from "../format/arrow_words";
import { counterNote } from "../format/counter_track_words";
import { formatCount, formatTime, plural } from "../format/units";
import { regionName, regionPlace } from "../state/names";
import { chosenCall, ChosenMessage } from "../state/store";
import { messageOf, WindowData } from "../state/timeline";
import { CounterWords } from "./timeline_counter";
import { nameOfLocation } from "./timeline_scene";
import { Name } from "./name";

function CollectiveWords({ of, i }: { of: CollectiveColumns; i: number }) {
    const isAll = !of.members[i] || of.known[i] === of.members[i];
    return (
        <>
            <b>
                <Name of={regionName(of.region[i])} />
            </b>{" "}
            of {isAll ? "" : `${formatCount(of.known[i])} of `}
            {plural(of.members[i] || of.known[i], "member")}
            <br />
            {of.wait_ns[i] > 0
                ? `for ${nameOfLocation(of.last_location[i])} the others waited ${formatTime(of.wait_ns[i])} in all`
                : "nobody waited"}
        </>
    );
}

function excessWords(ns: number): string {
    return ns > 0
        ? `${formatTime(ns)} longer than is typical on its path there`
        : "no longer than is typical on its path there";
}

function CallWords({ calls, i, excess }: { calls: Calls; i: number; excess: number | null }) {
    return (
        <>
            <b>
                <Name of={regionName(calls.region[i])} />
            </b>
            {regionPlace(calls.region[i])}{" "}
            {calls.merged[i] > 1 ? `${formatCount(calls.merged[i])} calls in ` : ""}
            {formatTime(calls.end_ns[i] - calls.begin_ns[i])}
            <br />
            {excess !== null && (
                <>
                    {isNaN(excess) ? "what is typical here is not known" : excessWords(excess)}
                    <br />
                </>
            )}
            {nameOfLocation(calls.location[i])}, at {formatTime(calls.begin_ns[i])}
        </>
    );
}

function MessageWords({ of }: { of: ChosenMessage }) {
    return (
        <>
            <b>{of.kind}</b> {nameOfLocation(of.from)} → {nameOfLocation(of.to)}
            <br />
            {of.bytes !== undefined && `${formatCount(of.bytes)} bytes, tag ${of.tag}, `}
            {formatTime(of.recv_ns - of.send_ns)} {delayWords[of.kind]}
        </>
    );
}

/* Null: there is nothing. */
export function wordsAt(data: WindowData, found: Found, excess: Float64Array | null) {
    const { call, message, collective, counter } = found;
    if (message >= 0) return <MessageWords of={messageOf(data.messages, message)} />;
    if (collective >= 0) return <CollectiveWords of={data.collectives} i={collective} />;
    if (counter) return <CounterWords {...counter} />;
    return call < 0 ? null : (
        <CallWords calls={data.calls} i={call} excess={excess?.[call] ?? null} />
    );
}

/* What is heard of the call that was gone to. */
export function wordsOf({ region, enter_ns, leave_ns, depth }: CallAt): string {
    const lane = nameOfLocation(chosenCall.value!.location);
    return `${regionName(region)}, ${formatTime(leave_ns - enter_ns)}, on ${lane} at ${formatTime(enter_ns)}, depth ${depth}`;
}

/* What the timeline is of, for those who cannot see it. */
export function summary(
    it: Shown | null,
    window: Span,
    lanes: Lane[],
    counter: CounterDrawn | null,
): string {
    const ranks = lanes.filter(({ isNested }) => !isNested).length;
    const threads = lanes.length > ranks ? ` and ${lanes.length - ranks} threads` : "";
    return `Calls of ${ranks} ranks${threads} from ${formatTime(window[0])} to ${formatTime(window[1])}${it ? `, around ${it.id}: ${it.why}` : ""}${counter ? `. ${counterNote(counter)}` : ""}`;
}
