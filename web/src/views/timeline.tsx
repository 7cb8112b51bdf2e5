// The timeline: the selected execution and the ranks it exchanged messages with, from the whole run
// down to nanoseconds, and what is chosen in it.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { getJson } from "../api/http";
import { CallAt, Collective, Shown } from "../api/types";
import {
    CollectiveColumns,
    collectiveOfCall,
    countCollectives,
} from "../canvas/collectives_draw";
import { Lane } from "../canvas/rows";
import { Arrows, chooseArrows, MessageColumns } from "../canvas/timeline_draw";
import { clampSpan, panSpan, Span, zoomSpan } from "../canvas/window";
import { formatCount, plural } from "../format/units";
import { groupLanes } from "../state/lane_groups";
import { locationsById, ranksOfRun } from "../state/places";
import { Movable, offerMovable, offerTimeline, pointAt } from "../state/keys";
import { retryExecutions } from "../state/load";
import { CallOfLocation, revealCall } from "../state/reveal";
import { Resource, useResource } from "../state/resource";
import {
    area,
    chosenCall,
    chosenCollective,
    ChosenMessage,
    chosenMessage,
    executions,
    executionsError,
    linksShown,
    openThreads,
    pinnedRanks,
    run,
    selected,
    shownRanks,
    timeWindow,
} from "../state/store";
import { windowShown } from "../state/timeline_window";
import { shown } from "./detail";
import { Minimap } from "./minimap";
import { Empty, Failed, Loading, Panel } from "./panel";
import { messageOf, TimelineCanvas } from "./timeline_canvas";
import { Chosen } from "./timeline_chosen";
import { CounterChoice, CounterLegend, drawnOf, useCounter } from "./timeline_counter";
import {
    spanOf,
    useAsked,
    usePartners,
    useRootDepth,
    useUsual,
    useWindow,
} from "./timeline_data";
import { left } from "./timeline_scene";
import { ColourChoice, RankChoice, TimelineLegend } from "./timeline_tools";
import { useSize } from "./use_canvas";

const minimapHeight = 54; /* units, with the legend and what is around them */
const fitMargin = 0.1; /* of what is fitted, on both sides */

function useChosenCall(): Resource<CallAt> {
    const of = chosenCall.value;
    return useResource(of && `${of.location}/${of.call}`, (abort) =>
        getJson<CallAt>(`/calls/${of!.location}/${of!.call}`, abort),
    );
}

function useChosenCollective(): Resource<Collective> {
    const of = chosenCollective.value;
    return useResource(of && `${of.location}/${of.call}`, (abort) =>
        getJson<Collective>(`/calls/${of!.location}/${of!.call}/collective`, abort),
    );
}

/* Says so when not all of the window are drawn: of messages, or of collectives. */
function DrawnCount(props: {
    of: { inWindow: number; drawn: number };
    fetched: number;
    total: number; /* of which some were fetched */
    what: string;
    says: string;
}) {
    const { of, fetched, total } = props;
    const isAll = total <= fetched;
    const all = isAll ? of.inWindow : Math.round((of.inWindow * total) / Math.max(1, fetched));
    if (all <= of.drawn) return null;
    return (
        <span class="messages" title={`${props.says} Zoom in to see them.`}>
            {formatCount(of.drawn)} of {isAll ? "" : "about "}
            {plural(all, props.what)} drawn
        </span>
    );
}

/* Of the call that is chosen, else of the selected execution; null: it has none in the window. */
function firstMessage(
    m: MessageColumns,
    arrows: Arrows | null,
    it: Shown | null,
): ChosenMessage | null {
    const of = chosenCall.value;
    const isOf = (location: number, call: number) =>
        of !== null && location === of.location && call === of.call;
    const list = arrows?.list ?? [];
    const own = list.find(
        ({ message: i }) => isOf(m.from[i], m.send_call[i]) || isOf(m.to[i], m.recv_call[i]),
    );
    const found = own ?? (it ? list.find(({ isOwn }) => isOwn) : undefined);
    return found ? messageOf(m, found.message) : null;
}

/* What is asked for, with threads under their ranks. */
function useLanes(asked: number[], own: number | null): Lane[] {
    const [folds, pinned] = [openThreads.value, pinnedRanks.value];
    return useMemo(
        () =>
            groupLanes(asked, locationsById.value, {
                threads: ranksOfRun.value,
                folds,
                own,
                pinned,
            }),
        [asked.join(), own, folds, pinned, run.value],
    );
}

/* The one that the chosen call takes part in, else the first of the selected execution, by such a call. */
function firstCollective(c: CollectiveColumns, it: Shown | null): CallOfLocation | null {
    const of = chosenCall.value;
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

export function Timeline() {
    const of = run.value!;
    const whole: Span = [of.begin_ns, Math.max(of.end_ns, of.begin_ns + 1)];
    const it = shown.value?.value ?? null;
    const wanted =
        timeWindow.value ?? spanOf(selected.value) ?? (executions.value ? whole : null);
    const window = wanted && clampSpan(wanted, whole);
    const partners = usePartners(it);
    const asked = shownRanks.value ?? partners.value ?? (it ? [it.location] : []);
    const lanes = useLanes(asked, it?.rank ?? null);
    const locations = lanes.map(({ location }) => location);
    const body = useRef<HTMLDivElement>(null);
    const { width, height } = useSize(body);
    const askedWindow = useAsked(window, whole, width - left, locations);
    const data = useWindow(askedWindow);
    const counter = useCounter(askedWindow.asked);
    const counterDrawn = useMemo(
        () => window && drawnOf(counter.value, window),
        [counter.value, window?.join()],
    );
    const rootDepth = useRootDepth(it);
    const chosen = useChosenCall().value;
    const collective = useChosenCollective();
    const usual = useUsual(locations);
    const set = (next: Span) => (timeWindow.value = next);

    windowShown.value =
        window && locations.length
            ? { begin: window[0], end: window[1], locations, asked }
            : null;

    const movable = useRef<Movable>({
        zoom: () => undefined,
        pan: () => undefined,
        fit: () => undefined,
    });
    // From the signals: keys come faster than the page is drawn.
    const current = (): Span => timeWindow.value ?? spanOf(selected.value) ?? whole;
    movable.current.zoom = (factor) =>
        set(zoomSpan(current(), factor, (current()[0] + current()[1]) / 2, whole));
    movable.current.pan = (share) => set(panSpan(current(), share, whole));
    const chosenSpan = (): Span | null =>
        area.value
            ? [area.value.begin, area.value.end]
            : chosen && [chosen.enter_ns, chosen.leave_ns];
    // What is chosen. Without, or again: the selected execution, then the whole run.
    movable.current.fit = () => {
        const [begin, end] = chosenSpan() ?? [0, 0];
        const margin = (end - begin) * fitMargin;
        const fitted = end > begin && clampSpan([begin - margin, end + margin], whole);
        if (fitted && fitted.join() !== timeWindow.value?.join()) timeWindow.value = fitted;
        else timeWindow.value = timeWindow.value === null ? whole : null;
    };
    // A mark around what is chosen, else around the selected execution, to measure it.
    movable.current.measure = () => {
        const call = chosenCall.value;
        const span = chosenSpan() ?? (it && [it.enter_ns, it.exit_ns]) ?? window;
        if (!span) return;
        const lanes = area.value?.locations ?? (call && chosen ? [call.location] : locations);
        area.value = { begin: span[0], end: span[1], locations: lanes };
    };
    // A message to one of its ends, a collective to who waited longest or to the last to arrive; where none is
    // chosen, the first of what is chosen is.
    movable.current.follow = (end) => {
        const message = chosenMessage.value;
        const met = chosenCollective.value && collective.value;
        if (message) {
            const call = end === "from" ? message.send_call : message.recv_call;
            revealCall({ location: message[end], call }).catch(() => undefined);
        } else if (met) {
            const last = { location: met.last_location, call: met.last_call };
            revealCall(end === "from" ? (met.parts[0] ?? last) : last).catch(() => undefined);
        } else if (!chosenCollective.value) takeFirst();
    };
    useEffect(() => offerMovable(movable.current), []);
    useEffect(() => offerTimeline(movable.current), []);
    // Asked for before the messages are here, it is chosen when they come, unless something else is looked at.
    const awaited = useRef<string | null>(null);
    const lookedAt = `${selected.value}/${window?.join()}`;
    const takeFirst = () => {
        const m = data.value?.messages;
        const met = hasCollectives && data.value?.collectives;
        // A call that takes part in a collective has no messages of its own.
        const own = met && chosenCall.value ? firstCollective(met, it) : null;
        const first = m && !own ? firstMessage(m, arrows, it) : null;
        chosenMessage.value = first;
        chosenCollective.value = first
            ? null
            : own || (met && firstCollective(met, it)) || null;
        awaited.current = first || chosenCollective.value ? null : lookedAt;
    };

    const own = it && { location: it.location, begin_ns: it.enter_ns, end_ns: it.exit_ns };
    const links = linksShown.value;
    const hasCollectives = linksShown.value === "all" || linksShown.value === "collectives";
    const met = useMemo(
        () =>
            data.value && window && hasCollectives
                ? countCollectives(data.value.collectives, window, width - left, locations)
                : null,
        [data.value, window?.join(), width, locations.join(), hasCollectives],
    );
    const arrows = useMemo(
        () =>
            data.value && window && links !== "none" && links !== "collectives"
                ? chooseArrows(
                      data.value.messages,
                      window,
                      width - left,
                      own,
                      locations,
                      (kind) =>
                          links === "all" || (kind === "message") === (links === "messages"),
                  )
                : null,
        [data.value, window?.join(), width, it, locations.join(), links],
    );
    useEffect(() => {
        const isChosen = chosenMessage.value ?? chosenCollective.value;
        if (awaited.current === lookedAt && !isChosen) takeFirst();
    }, [arrows, data.value]);
    const hasLaunches = data.value?.messages.kind?.some((kind) => kind > 0) ?? false;
    const tools = window && (
        <>
            {data.value && arrows && (
                <DrawnCount
                    of={arrows}
                    fetched={data.value.messages.n}
                    total={data.value.totalMessages}
                    what={hasLaunches ? "arrow" : "message"}
                    says="All of the selected execution; the others where there are few."
                />
            )}
            {data.value && met && (
                <DrawnCount
                    of={met}
                    fetched={data.value.collectives.n}
                    total={data.value.totalCollectives}
                    what="collective"
                    says="Of many, those in which somebody is seen to wait."
                />
            )}
            <ColourChoice />
            <CounterChoice />
            <RankChoice shown={asked} own={it?.location ?? null} />
            <button
                title="Zoom out (S)"
                aria-label="Zoom out"
                onClick={() => movable.current.zoom(1 / 2)}
            >
                −
            </button>
            <button
                title="Zoom in (W; or Ctrl and the wheel)"
                aria-label="Zoom in"
                onClick={() => movable.current.zoom(2)}
            >
                +
            </button>
            <button
                title="What is chosen, or the selected execution (F); again: the whole run"
                onClick={() => movable.current.fit()}
            >
                Fit
            </button>
        </>
    );
    return (
        <Panel name="timeline" tools={tools}>
            <div
                class="timeline"
                ref={body}
                onPointerMove={() => pointAt(movable.current)}
                onFocusIn={() => pointAt(movable.current)}
            >
                {window && (
                    <Minimap all={executions.value} whole={whole} window={window} set={set} />
                )}
                {data.error ? (
                    <Failed text={data.error} retry={data.retry} />
                ) : data.value && window && locations.length ? (
                    <TimelineCanvas
                        it={it}
                        data={data.value}
                        isBusy={partners.isLoading || data.isLoading}
                        arrows={arrows}
                        window={window}
                        whole={whole}
                        lanes={lanes}
                        rootDepth={rootDepth}
                        usual={usual}
                        counter={counterDrawn}
                        chosen={chosen}
                        height={height - minimapHeight}
                        set={set}
                    />
                ) : !window && executionsError.value ? (
                    <Failed text={executionsError.value} retry={retryExecutions} />
                ) : selected.value === null ? (
                    <Empty>Choose an execution to see it over time.</Empty>
                ) : (
                    <Loading what="the timeline" />
                )}
                {data.value && (
                    <TimelineLegend
                        calls={data.value.calls}
                        usual={usual}
                        hasCollectives={data.value.collectives.n > 0}
                        hasLaunches={hasLaunches}
                    />
                )}
                <CounterLegend track={counter} drawn={counterDrawn} />
                <Chosen call={chosen} collective={collective} />
            </div>
        </Panel>
    );
}
