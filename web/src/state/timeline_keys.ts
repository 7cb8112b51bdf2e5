// What keys do in the timeline, wherever the pointer is: another window, what is chosen measured, a message followed.
import { collectiveOfCall } from "../canvas/collectives_draw";
import { clampSpan, panSpan, Span, zoomSpan } from "../canvas/window";
import { Shown } from "../api/types";
import { giveUp, goOn } from "./acts";
import { executionsQuery } from "./load";
import { CallOfLocation, revealing } from "./reveal";
import { callQuery, collectiveQuery, shownNow, shownQuery } from "./selected";
import {
    area,
    chosenCall,
    chosenCollective,
    ChosenMessage,
    chosenMessage,
    filter,
    measuredFrom,
    timeWindow,
} from "./store";
import {
    areCollectivesShown,
    arrowsOf,
    lanesNow,
    messageOf,
    WindowData,
    windowNow,
    windowSettled,
    wholeRun,
} from "./timeline";

const fitMargin = 0.1; /* of what is fitted, on both sides */

/* Of the call that is chosen, else of the selected execution; null: it has none in the window. */
function firstMessage(data: WindowData, it: Shown | null): ChosenMessage | null {
    const of = chosenCall.value;
    const m = data.messages;
    const isOf = (location: number, call: number) =>
        of !== null && location === of.location && call === of.call;
    const list = arrowsOf(data, windowNow.value!)?.list ?? [];
    const own = list.find(
        ({ message: i }) => isOf(m.from[i], m.send_call[i]) || isOf(m.to[i], m.recv_call[i]),
    );
    const found = own ?? (it ? list.find(({ isOwn }) => isOwn) : undefined);
    return found ? messageOf(m, found.message) : null;
}

/* The one that the chosen call takes part in, else the first of the selected execution, by such a call. */
function firstCollective(data: WindowData, it: Shown | null): CallOfLocation | null {
    if (!areCollectivesShown.value) return null;
    const of = chosenCall.value;
    const { collectives: c } = data;
    const { parts } = c;
    if (of) return collectiveOfCall(c, of.location, of.call) < 0 ? null : of;
    for (let i = 0; it && i < parts.n; i++)
        if (
            parts.location[i] === it.location &&
            parts.begin_ns[i] >= it.enter_ns &&
            parts.end_ns[i] <= it.exit_ns
        )
            return { location: parts.location[i], call: parts.call[i] };
    return null;
}

/* A call that takes part in a collective has no messages of its own. */
async function chooseFirst(): Promise<(() => void) | null> {
    const data = await windowSettled();
    if (!data || !windowNow.value) return null;
    const it = shownNow();
    const own = chosenCall.value && firstCollective(data, it);
    const message = own ? null : firstMessage(data, it);
    const collective = message ? null : (own ?? firstCollective(data, it));
    return () => {
        chosenMessage.value = message;
        chosenCollective.value = collective;
    };
}

/* A message to one of its ends, a collective to who waited longest or to the last to arrive; where none is
   chosen, the first of what is chosen is. */
export function follow(end: "from" | "to"): void {
    goOn(async (abort) => {
        const message = chosenMessage.value;
        if (message) {
            const call = end === "from" ? message.send_call : message.recv_call;
            return revealing({ location: message[end], call })(abort);
        }
        if (!chosenCollective.value) return chooseFirst();
        const met = await collectiveQuery.settled();
        if (!met) return null;
        const last = { location: met.last_location, call: met.last_call };
        return revealing(end === "from" ? (met.parts[0] ?? last) : last)(abort);
    });
}

/* What is chosen: an area, or a call once its times are here; null: nothing. */
async function chosenSpan(): Promise<Span | null> {
    if (area.value) return [area.value.begin, area.value.end];
    const call = chosenCall.value && (await callQuery.settled());
    return call && [call.enter_ns, call.leave_ns];
}

/* An area around what is chosen, else around the selected execution. */
export function measure(): void {
    goOn(async () => {
        const call = chosenCall.value;
        const chosen = await chosenSpan();
        if (call && !chosen) return null; /* the server has no such call */
        const it = chosen ? null : await shownQuery.settled();
        const span = chosen ?? (it && [it.enter_ns, it.exit_ns]) ?? windowNow.value;
        const locations =
            area.value?.locations ??
            (call && chosen ? [call.location] : lanesNow.value.map((lane) => lane.location));
        return span && (() => (area.value = { begin: span[0], end: span[1], locations }));
    });
}

/* Distances are measured from the call that is chosen; from none, where they are already. */
export function measureFrom(): void {
    goOn(() => {
        const [now, before] = [chosenCall.value, measuredFrom.value];
        const isSame = now?.location === before?.location && now?.call === before?.call;
        if (now) measuredFrom.value = isSame ? null : now;
    });
}

/* What is chosen. Without, or again: the selected execution, then the whole run. */
export function fit(): void {
    goOn(async () => {
        const [begin, end] = (await chosenSpan()) ?? [0, 0];
        const margin = (end - begin) * fitMargin;
        const fitted = end > begin && clampSpan([begin - margin, end + margin], wholeRun.value);
        return () => {
            if (fitted && fitted.join() !== timeWindow.value?.join()) timeWindow.value = fitted;
            else timeWindow.value = timeWindow.value === null ? wholeRun.value : null;
        };
    });
}

/* Another window than that of now, once it is known where that is. */
function moveWindow(to: (now: Span) => Span): void {
    const move = () => {
        if (windowNow.value) timeWindow.value = to(windowNow.value);
    };
    goOn(() => (windowNow.value ? move() : executionsQuery.settled().then(() => move)));
}

export function zoom(factor: number): void {
    moveWindow(([begin, end]) =>
        zoomSpan([begin, end], factor, (begin + end) / 2, wholeRun.value),
    );
}

export function pan(share: number): void {
    moveWindow((now) => panSpan(now, share, wholeRun.value));
}

/* The list, the overview and the functions, of what has a part in the window; of all, where they are so already. */
export function filterByWindow(): void {
    goOn(() => {
        const now = windowNow.value;
        if (!now) return;
        const time: Span = [Math.max(0, Math.floor(now[0])), Math.ceil(now[1])];
        const isSo = filter.value.time?.join() === time.join();
        filterByTime(isSo ? null : time);
    });
}

export function filterByTime(time: Span | null): void {
    filter.value = { ...filter.value, time };
}

/* By hand: what is under way would move it again. */
export function setWindow(next: Span): void {
    giveUp();
    timeWindow.value = next;
}
