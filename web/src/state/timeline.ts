// What the timeline shows: which window of time, which lanes, and what was asked for of them.
import { computed, signal } from "@preact/signals";
import { Column } from "../api/columns";
import { getBundle } from "../api/http";
import { CauseLink, Shown } from "../api/types";
import { CollectiveColumns } from "../canvas/collectives_draw";
import { Calls, Lane } from "../canvas/rows";
import {
    arrowKind,
    Arrows,
    chooseArrows,
    MessageColumns,
    withDependencies,
} from "../canvas/timeline_draw";
import { clampSpan, Span } from "../canvas/window";
import { groupLanes } from "./lane_groups";
import { locationOf, locationsById, ranksOfRun } from "./places";
import { Query, queryOf, Question, when } from "./query";
import { shownNow, shownQuery } from "./selected";
import {
    ChosenMessage,
    details,
    executions,
    linksShown,
    openThreads,
    pinnedRanks,
    run,
    selected,
    shownRanks,
    timeWindow,
} from "./store";
import {
    AskedWindow,
    askCalls,
    askedOf,
    askMessages,
    mostMessages,
    printWindow,
    rested,
} from "./window_data";

const mostCollectives = 200;
const mostWhole = 4; /* ranks of a run: there is room for all */
const mostPartners = 5;

export const timelineWidth = signal(0); /* units, of lanes; 0: the timeline is not shown */

export const wholeRun = computed<Span>(() => {
    const { begin_ns = 0, end_ns = 1 } = run.value ?? {};
    return [begin_ns, Math.max(end_ns, begin_ns + 1)];
});

/* The selected execution with a margin, so that what surrounds it is seen too. */
export function spanOf(tree: number | null): Span | null {
    const all = executions.value;
    if (tree === null || !all || tree >= all.n) return null;
    const margin = Math.max(10, all.duration_ns[tree] * 0.08);
    return [all.enter_ns[tree] - margin, all.enter_ns[tree] + all.duration_ns[tree] + margin];
}

/* Null until executions are here. */
export const windowNow = computed<Span | null>(() => {
    const whole = wholeRun.value;
    const wanted =
        timeWindow.value ?? spanOf(selected.value) ?? (executions.value ? whole : null);
    return wanted && clampSpan(wanted, whole);
});

function causeLocations(cause: CauseLink[] | null | undefined): number[] {
    return (cause ?? []).flatMap((link) => locationOf(link.rank, link.thread)?.id ?? []);
}

/* The locations it exchanged messages with, those with the most messages first. */
async function loadPartners(it: Shown, abort: AbortSignal): Promise<number[]> {
    const { columns } = await getBundle(
        `/messages?begin=${it.enter_ns}&end=${it.exit_ns}&limit=${mostMessages}`,
        abort,
    );
    const count = new Map<number, number>();
    for (let i = 0; i < columns.from.length; i++) {
        const [from, to] = [columns.from[i], columns.to[i]];
        const other = from === it.location ? to : to === it.location ? from : -1;
        if (other >= 0 && other !== it.location) count.set(other, (count.get(other) ?? 0) + 1);
    }
    return [...count].sort((a, b) => b[1] - a[1]).map(([location]) => location);
}

export const partnersQuery = queryOf<number[]>(() => {
    const it = shownNow();
    if (!it || !timelineWidth.value) return null;
    return { about: `${it.foi} ${it.tree}`, ask: (abort) => loadPartners(it, abort) };
});

/* The lane of the selected execution. */
export const ownLocation = computed<number | null>(() => {
    const [tree, more] = [selected.value, details.value];
    if (tree === null || !more || tree >= more.rank.length) return shownNow()?.location ?? null;
    return locationOf(more.rank[tree], more.thread[tree])?.id ?? null;
});

/* Whether the lanes that an execution is shown with are known. */
export const areLanesKnown = computed(
    () => shownRanks.value !== null || partnersQuery.answer.value.value !== null,
);

/* Those a person or a link names, as far as the run has them; else the execution, its cause, its partners, and where
   there are few ranks the others. */
export const askedLanes = computed<number[]>(() => {
    const named = shownRanks.value?.filter((id) => locationsById.value.has(id));
    if (named?.length) return named;
    const [own, it] = [ownLocation.value, shownNow()];
    if (own === null) return [];
    const cause = causeLocations(it?.cause);
    const all = [...ranksOfRun.value.values()].map(([first]) => first.id);
    const others = all.length <= mostWhole ? all : [];
    const list = [
        ...new Set([own, ...cause, ...(partnersQuery.answer.value.value ?? []), ...others]),
    ];
    return list.slice(0, Math.max(mostPartners + 1, new Set(cause).size + 1));
});

/* With threads under their ranks. */
export const lanesNow = computed<Lane[]>(() => {
    const own = ownLocation.value;
    return groupLanes(askedLanes.value, locationsById.value, {
        threads: ranksOfRun.value,
        folds: openThreads.value,
        own: own === null ? null : (locationsById.value.get(own)?.rank ?? null),
        pinned: pinnedRanks.value,
    });
});

/* For what is saved and searched; null while it is not shown. */
export interface WindowShown {
    begin: number;
    end: number;
    locations: number[];
}
export const windowShown = computed<WindowShown | null>(() => {
    const window = windowNow.value;
    const locations = lanesNow.value.map(({ location }) => location);
    if (!window || !timelineWidth.value || !locations.length) return null;
    return { begin: window[0], end: window[1], locations };
});

export interface WindowData {
    of: AskedWindow;
    calls: Calls;
    messages: MessageColumns; /* and launches */
    totalMessages: number;
    collectives: CollectiveColumns;
    totalCollectives: number;
}

/* "part.call" is a column of the parts. */
function collectivesOf(columns: Record<string, Column>): CollectiveColumns {
    const parts = Object.entries(columns).flatMap(([name, column]) =>
        name.startsWith("part.") ? [[name.slice(5), column]] : [],
    );
    return {
        ...columns,
        n: columns.last_ns.length,
        parts: { ...Object.fromEntries(parts), n: columns["part.of"].length },
    } as unknown as CollectiveColumns;
}

async function loadWindow(of: AskedWindow, abort: AbortSignal): Promise<WindowData> {
    const query = printWindow(of);
    const [calls, messages, met, launches] = await Promise.all([
        askCalls(of, abort),
        askMessages(of, abort),
        getBundle(`/collectives?${query}&limit=${mostCollectives}`, abort),
        getBundle(`/dependencies?${query}&limit=${mostMessages}`, abort),
    ]);
    return {
        of,
        calls,
        messages: withDependencies(messages.sent, launches.columns),
        totalMessages: messages.total + Number(launches.header.total ?? 0),
        collectives: collectivesOf(met.columns),
        totalCollectives: Number(met.header.total ?? 0),
    };
}

const wantedWindow = computed<AskedWindow | null>(() => {
    const [window, pixels] = [windowNow.value, timelineWidth.value];
    const locations = lanesNow.value.map(({ location }) => location);
    return window && askedOf(window, wholeRun.value, pixels, locations);
});

/* What was asked for last. */
export const askedWindow = rested(wantedWindow);

const windowQuestion = (): Question<WindowData> | null => {
    const of = askedWindow.value;
    return of && { about: "window", version: of.key, ask: (abort) => loadWindow(of, abort) };
};
export const windowQuery: Query<WindowData> = queryOf(windowQuestion);

/* Whether it is that of the window and the lanes as they are now. */
export const isWindowHere = computed(
    () =>
        !shownQuery.answer.value.isLoading &&
        !partnersQuery.answer.value.isLoading &&
        !windowQuery.answer.value.isLoading &&
        wantedWindow.value?.key === askedWindow.value?.key,
);

/* Calls and messages of the window as it is now, once they are here. */
export async function windowSettled(): Promise<WindowData | null> {
    await when(() => isWindowHere.value);
    return windowQuery.settled();
}

/* One message of the columns that came from the server. */
export function messageOf(m: MessageColumns, i: number): ChosenMessage {
    return {
        kind: arrowKind(m, i),
        from: m.from[i],
        to: m.to[i],
        send_ns: m.send_ns[i],
        recv_ns: m.recv_ns[i],
        send_call: m.send_call[i],
        recv_call: m.recv_call[i],
        bytes: m.bytes?.[i],
        tag: m.tag?.[i],
    };
}

export const areCollectivesShown = computed(
    () => linksShown.value === "all" || linksShown.value === "collectives",
);

/* The arrows that are drawn of a window. */
export function arrowsOf({ messages }: WindowData, window: Span): Arrows | null {
    const [links, it] = [linksShown.value, shownNow()];
    if (links === "none" || links === "collectives") return null;
    const own = it && { location: it.location, begin_ns: it.enter_ns, end_ns: it.exit_ns };
    const locations = lanesNow.value.map(({ location }) => location);
    return chooseArrows(
        messages,
        window,
        timelineWidth.value,
        own,
        locations,
        (kind) => links === "all" || (kind === "message") === (links === "messages"),
    );
}
