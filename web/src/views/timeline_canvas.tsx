// The lanes of the timeline: calls, messages, what is chosen. Dragging measures an area, along the axis
// it zooms, with Shift it pans; Ctrl and the wheel zoom; a click chooses a call or a message.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { steps } from "../canvas/call_steps";
import { holdsRow, isOnPath, lookup, Lookup, pathOfCall } from "../canvas/callers";
import { excessColour, excessOf } from "../canvas/excess";
import {
    callAt,
    Calls,
    heightOf,
    Lane,
    lanesBetween,
    layOutBlocks,
    pinnedHeight,
    unscrolled,
} from "../canvas/rows";
import {
    collectiveAt,
    CollectiveColumns,
    collectiveOfCall,
    CollectiveShape,
} from "../canvas/collectives_draw";
import { counterAt, CounterTrack, stripsOf } from "../canvas/counter_draw";
import {
    arrowKind,
    ArrowLine,
    arrowLines,
    Arrows,
    axisHeight,
    CounterDrawn,
    drawTimeline,
    messageAt,
    MessageColumns,
    Scene,
    shapesOf,
} from "../canvas/timeline_draw";
import { clampSpan, Span } from "../canvas/window";
import { CallAt, Shown } from "../api/types";
import { counterNote } from "../format/counter_track_words";
import { delayWords } from "../format/arrow_words";
import { formatCount, formatTime, plural } from "../format/units";
import { markedPaths, togglePath } from "../state/marks";
import { regionName, regionPlace } from "../state/names";
import { locationsById } from "../state/places";
import { CallOfLocation, sought, soughtLane } from "../state/reveal";
import { rootDepth } from "../state/selected";
import { areCollectivesShown, messageOf, WindowData } from "../state/timeline";
import { walk } from "../state/walk";
import {
    Area,
    area,
    callColours,
    chosenCall,
    chosenCollective,
    ChosenMessage,
    chosenMessage,
    mark,
    markedCalls,
    openRanks,
    regions,
    theme,
} from "../state/store";
import { HoverBox } from "./hover_box";
import { usePicture } from "./pictures";
import { AreaOverlay } from "./timeline_area";
import { CounterWords } from "./timeline_counter";
import { knownUsual, UsualNow } from "./timeline_data";
import { LaneNames, toggleCalls, togglePin, toggleThreads } from "./timeline_lanes";
import {
    colours,
    comingColour,
    left,
    linksOf,
    nameOfLocation,
    paletteOf,
    timelineFigure,
} from "./timeline_scene";
import { fitCanvas, Size, useSize } from "./use_canvas";
import { useTimeAxis } from "./use_time_axis";

const dragged = 3; /* units; less is a click */
const reach = 4; /* units from an arrow that are still at it */

/* Tells which rectangles are marked: calls on a path, or those of the selected execution. */
function marker(
    calls: Calls,
    callers: Lookup,
    it: Shown | null,
    rootDepth: number | null,
): (i: number) => boolean {
    const paths = markedPaths.value;
    const picked = mark.value ? null : markedCalls.value;
    if (!paths.length || rootDepth === null) return () => false;
    if (!picked || !it)
        return (i) =>
            paths.some((path) => isOnPath(calls, callers, regionName, i, rootDepth, path));
    const rows = picked.map((v) => it.call + v);
    const depths = new Set(paths.map((path) => rootDepth + path.length - 1));
    return (i) =>
        calls.location[i] === it.location &&
        depths.has(calls.depth[i]) &&
        holdsRow(calls, callers, i, rows);
}

function isSameMessage(a: ChosenMessage, m: MessageColumns, i: number): boolean {
    return (
        a.kind === arrowKind(m, i) &&
        a.from === m.from[i] &&
        a.to === m.to[i] &&
        a.send_ns === m.send_ns[i] &&
        a.recv_call === m.recv_call[i]
    );
}

/* The one that is chosen, among those that are there now; null: none. */
function indexOfChosen(m: MessageColumns): number | null {
    const chosen = chosenMessage.value;
    if (!chosen) return null;
    for (let i = 0; i < m.n; i++) if (isSameMessage(chosen, m, i)) return i;
    return null;
}

/* Where the chosen collective is among those that are there now; null: none. */
function chosenAmong(c: CollectiveColumns): number | null {
    const of = chosenCollective.value;
    const at = of ? collectiveOfCall(c, of.location, of.call) : -1;
    return at < 0 ? null : at;
}

function CollectiveWords({ of, i }: { of: CollectiveColumns; i: number }) {
    const isAll = !of.members[i] || of.known[i] === of.members[i];
    return (
        <>
            <b>{regionName(of.region[i])}</b> of{" "}
            {isAll ? "" : `${formatCount(of.known[i])} of `}
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
            <b>{regionName(calls.region[i])}</b>
            {regionPlace(calls.region[i])}{" "}
            {calls.merged[i] > 1 ? `${formatCount(calls.merged[i])} calls in ` : ""}
            {formatTime(calls.end_ns[i] - calls.begin_ns[i])}
            <br />
            {excess !== null && (
                <>
                    {isNaN(excess) ? "what is usual here is not known" : excessWords(excess)}
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

interface Pointer {
    x: number;
    y: number;
}

/* What is under the pointer now, whatever was moved since it came there. */
function Hover(props: {
    data: WindowData;
    call: number;
    message: number;
    collective: number;
    counter: { of: CounterTrack; location: number; piece: number } | null;
    excess: Float64Array | null;
    at: Pointer;
    scroll: number;
    size: Size;
}) {
    const { data, call, message, collective, counter, at, size } = props;
    if (call < 0 && message < 0 && collective < 0 && !counter) return null;
    return (
        <HoverBox x={at.x} y={at.y + props.scroll} size={size}>
            {message >= 0 ? (
                <MessageWords of={messageOf(data.messages, message)} />
            ) : collective >= 0 ? (
                <CollectiveWords of={data.collectives} i={collective} />
            ) : counter ? (
                <CounterWords {...counter} />
            ) : (
                <CallWords calls={data.calls} i={call} excess={props.excess?.[call] ?? null} />
            )}
        </HoverBox>
    );
}

/* What is drawn between lanes, and where. */
interface Between {
    lines: ArrowLine[];
    shapes: CollectiveShape[];
}

const nothingBetween: Between = { lines: [], shapes: [] };

/* A call by which a collective is found again. */
function memberOf({ parts }: CollectiveColumns, collective: number): CallOfLocation {
    const i = parts.of.indexOf(collective);
    return { location: parts.location[i], call: parts.call[i] };
}

interface Drag extends Pointer {
    kind: "area" | "zoom" | "pan";
    window: Span;
    isMoved: boolean;
}

interface CanvasProps {
    it: Shown | null;
    data: WindowData;
    isBusy: boolean; /* other calls or lanes are on their way */
    arrows: Arrows | null;
    window: Span;
    whole: Span;
    lanes: Lane[];
    usual: UsualNow; /* where calls are coloured by excess */
    counter: CounterDrawn | null;
    chosen: CallAt | null;
    height: number; /* there is for lanes while nothing is said below them */
    set: (window: Span) => void;
}

export function TimelineCanvas(props: CanvasProps) {
    const { it, data, window, whole, lanes } = props;
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(box);
    const [scroll, setScroll] = useState(0);
    const folds = openRanks.value;
    const [pointer, setPointer] = useState<Pointer | null>(null);
    const drag = useRef<Drag | null>(null);
    const [drawn, setDrawn] = useState<Area | null>(null); /* while it is drawn */

    const links = useMemo(() => linksOf(it), [it]);
    // Partners are folded only where there is no room for all.
    const room = props.height - axisHeight;
    const track = props.counter?.track ?? null;
    const strips = useMemo(
        () => stripsOf(track, lanes, (id) => locationsById.value.get(id)?.rank),
        [track, lanes],
    );
    const areAllOpen = useMemo(
        () => heightOf(layOutBlocks(lanes, data.calls, () => true, Infinity, strips)) <= room,
        [lanes, data.calls, room, strips],
    );
    const isOpen = (location: number) =>
        folds[location] ??
        (areAllOpen || location === it?.location || links.some((l) => l.location === location));
    const blocks = useMemo(
        () => layOutBlocks(lanes, data.calls, isOpen, room, strips),
        [lanes, data.calls, folds, it, areAllOpen, room, strips],
    );
    const colour = useMemo(
        () => colours(callColours.value === "kind" ? "kind" : "function"),
        [regions.value, callColours.value],
    );
    const callers = useMemo(() => lookup(data.calls), [data.calls]);
    const isByExcess = callColours.value === "excess";
    const usual = knownUsual(props.usual);
    const excess = useMemo(
        () => (usual ? excessOf(data.calls, callers, usual) : null),
        [data.calls, callers, usual],
    );
    const byExcess = (i: number) =>
        usual && excess ? excessColour(excess[i], usual) : comingColour;
    const depthOfRoot = rootDepth.value;
    const isMarked = marker(data.calls, callers, it, depthOfRoot);

    const hasCollectives = areCollectivesShown.value;
    const palette = useMemo(() => paletteOf(it), [theme.value, it?.verdict]);
    const sceneOf = (height: number, scrolled: number, colours = palette): Scene => ({
        window,
        left,
        width: size.width,
        height,
        scroll: scrolled,
        blocks,
        calls: data.calls,
        messages: data.messages,
        arrows: props.arrows,
        own: it && { location: it.location, begin_ns: it.enter_ns, end_ns: it.exit_ns },
        links,
        chosen: props.chosen &&
            chosenCall.value && {
                location: chosenCall.value.location,
                depth: props.chosen.depth,
                begin_ns: props.chosen.enter_ns,
                end_ns: props.chosen.leave_ns,
            },
        chosenMessage: indexOfChosen(data.messages),
        collectives: hasCollectives ? data.collectives : null,
        counter: props.counter,
        chosenCollective: chosenAmong(data.collectives),
        colour,
        colourOf: isByExcess ? byExcess : undefined,
        name: regionName,
        isMarked,
        covered: data.of,
        ...colours,
    });
    usePicture("timeline", () =>
        timelineFigure(sceneOf(axisHeight + heightOf(blocks), 0, paletteOf(it)), it, usual),
    );
    useEffect(() => {
        if (!size.width) return;
        fitCanvas(canvas.current!, size);
        const c = canvas.current!.getContext("2d")!;
        c.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
        drawTimeline(c, sceneOf(size.height, scroll));
    }, [
        window,
        size,
        scroll,
        blocks,
        data,
        it,
        props.arrows,
        markedPaths.value,
        theme.value,
        depthOfRoot,
        props.chosen,
        chosenMessage.value,
        chosenCollective.value,
        hasCollectives,
        colour,
        isByExcess,
        excess,
        props.counter,
    ]);

    // What was asked for is scrolled to once it has a lane, and its depth is known.
    useEffect(() => {
        const to = sought.value;
        const block = to && blocks.find(({ location }) => location === to.location);
        if (!to || !block || !size.height || to !== chosenCall.value || !props.chosen) return;
        const top = block.top + props.chosen.depth * block.row;
        const room = size.height - axisHeight;
        const end = top + block.row;
        const above = block.isPinned ? 0 : pinnedHeight(blocks);
        const from =
            end - block.top <= room - above ? block.top : top; /* the name of the lane, too */
        const isSeen = block.isPinned || (from >= scroll + above && end <= scroll + room);
        const goal = from === block.top ? from - above : top - room / 3;
        if (!isSeen) box.current!.scrollTop = Math.max(0, goal) * size.scale;
        sought.value = null;
    }, [blocks, props.chosen, sought.value, size]);

    useEffect(() => {
        const block = blocks.find(({ location }) => location === soughtLane.value);
        if (!block || !size.height) return;
        const end = block.top + block.height;
        const above = pinnedHeight(blocks);
        const isSeen =
            block.isPinned ||
            (block.top >= scroll + above && end <= scroll + size.height - axisHeight);
        if (!isSeen) box.current!.scrollTop = (block.top - above) * size.scale;
        soughtLane.value = null;
    }, [blocks, soughtLane.value, size]);

    const axis = useTimeAxis(canvas, size, { left, window, whole, set: props.set });
    const { nsPerPixel, timeAt, at } = axis;
    const px = (units: number) => `${units * size.scale}px`;
    const heightAt = (y: number) => unscrolled(y - axisHeight, blocks, scroll);
    const find = (x: number, y: number) =>
        y < axisHeight || x < left
            ? -1
            : callAt(data.calls, blocks, timeAt(x), nsPerPixel, heightAt(y));

    const findCounter = ({ x, y }: Pointer) => {
        const found =
            track && x >= left && y >= axisHeight
                ? counterAt(track, blocks, timeAt(x), heightAt(y))
                : null;
        return found && { of: track!, ...found };
    };

    // What lies between lanes, for what is at the pointer.
    const between = (): Between => {
        const scene = sceneOf(size.height, scroll);
        return { lines: arrowLines(scene), shapes: shapesOf(scene) };
    };
    const drawnBetween = useMemo(
        () => (pointer ? between() : nothingBetween),
        [pointer !== null, window, size, scroll, blocks, data, props.arrows, hasCollectives],
    );
    const findBetween = ({ x, y }: Pointer, among: Between) => {
        if (y < axisHeight || x < left) return { message: -1, collective: -1 };
        const message = messageAt(among.lines, x, y, reach);
        const collective = message < 0 ? collectiveAt(among.shapes, x, y, reach) : -1;
        return { message, collective };
    };

    const markCall = (i: number) => {
        if (depthOfRoot === null || data.calls.depth[i] < depthOfRoot) return;
        const path = pathOfCall(data.calls, callers, i, depthOfRoot);
        if (path) togglePath(path.map(regionName));
    };
    const choose = (at: Pointer) => {
        // Anew: a click may come before the pointer's move was drawn.
        const { message, collective } = findBetween(at, between());
        const i = message < 0 && collective < 0 ? find(at.x, at.y) : -1;
        area.value = null;
        chosenCollective.value = collective < 0 ? null : memberOf(data.collectives, collective);
        chosenMessage.value = message < 0 ? null : messageOf(data.messages, message);
        chosenCall.value =
            i < 0 ? null : { location: data.calls.location[i], call: data.calls.call[i] };
        if (i >= 0) markCall(i);
    };
    const move = ({ x, y }: Pointer, d: Drag) => {
        d.isMoved ||= Math.abs(x - d.x) > dragged;
        if (!d.isMoved) return;
        if (d.kind === "pan") return axis.drag(d.window, x - d.x);
        const times = [timeAt(Math.max(left, d.x)), timeAt(Math.max(left, x))];
        const [begin, end] = clampEnds(times, whole);
        const locations =
            d.kind === "zoom"
                ? blocks.map((b) => b.location)
                : lanesBetween(blocks, heightAt(d.y), heightAt(y));
        setDrawn(end > begin ? { begin, end, locations } : null);
    };
    const endDrag = (at: Pointer, d: Drag) => {
        setDrawn(null);
        if (!d.isMoved) return choose(at);
        if (!drawn) return;
        if (d.kind === "zoom") props.set(clampSpan([drawn.begin, drawn.end], whole));
        else area.value = drawn;
    };
    const atLane = chosenCall.value?.location ?? it?.location ?? lanes[0]?.location;
    const rankAt = locationsById.value.get(atLane)?.rank;
    const laneKeys: Record<string, () => void> = {
        t: () => rankAt !== undefined && toggleThreads(rankAt, it?.location ?? null),
        p: () => rankAt !== undefined && togglePin(rankAt),
        " ": () => toggleCalls(atLane, isOpen(atLane)),
        enter: () => props.chosen && markPath(props.chosen),
    };
    const markPath = ({ path, depth }: CallAt) => {
        if (depthOfRoot !== null && depth >= depthOfRoot)
            togglePath(path.slice(depthOfRoot).map(regionName));
    };
    const key = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const to = steps[event.key];
        const act = to
            ? () => walk(to[Number(event.shiftKey)])
            : laneKeys[event.key.toLowerCase()];
        const isOnName = event.target !== box.current; /* a button, which has keys of its own */
        if (!act || (isOnName && (event.key === "Enter" || event.key === " "))) return;
        event.preventDefault();
        act();
    };
    const zoomTo = (i: number) => axis.zoomTo(data.calls.begin_ns[i], data.calls.end_ns[i]);

    return (
        <div
            class="timeline-scroll"
            ref={box}
            tabIndex={0}
            role="application"
            aria-label="Calls over time"
            onKeyDown={key}
            onScroll={(e) => setScroll(e.currentTarget.scrollTop / size.scale)}
        >
            <canvas
                ref={canvas}
                class="timeline-canvas"
                role="img"
                aria-busy={props.isBusy}
                aria-label={summary(it, window, lanes, props.counter)}
                style={{ width: px(size.width), height: px(size.height) }}
                onPointerDown={(e) => {
                    const [x, y] = at(e);
                    if (e.button !== 0 || x < left) return;
                    canvas.current!.setPointerCapture(e.pointerId);
                    const kind = e.shiftKey ? "pan" : y < axisHeight ? "zoom" : "area";
                    drag.current = { x, y, kind, window, isMoved: false };
                }}
                onPointerMove={(e) => {
                    const [x, y] = at(e);
                    setPointer({ x, y });
                    if (drag.current) move({ x, y }, drag.current);
                }}
                onPointerUp={(e) => {
                    const [x, y] = at(e);
                    const d = drag.current;
                    drag.current = null;
                    if (d) endDrag({ x, y }, d);
                }}
                onDblClick={(e) => {
                    const i = find(...at(e));
                    if (i >= 0) zoomTo(i);
                }}
                onPointerLeave={() => setPointer(null)}
            />
            <p class="visually-hidden" aria-live="polite">
                {chosenCall.value && props.chosen && wordsOf(props.chosen)}
            </p>
            <div
                class="timeline-height"
                style={{ height: px(Math.max(0, heightOf(blocks) + axisHeight - size.height)) }}
            />
            <LaneNames
                blocks={blocks}
                own={it?.location ?? null}
                scroll={scroll}
                px={px}
                isOpen={isOpen}
            />
            {(drawn ?? area.value) && (
                <AreaOverlay
                    of={(drawn ?? area.value)!}
                    blocks={blocks}
                    window={window}
                    scroll={scroll}
                    size={size}
                />
            )}
            {pointer && !drag.current?.isMoved && (
                <Hover
                    data={data}
                    call={find(pointer.x, pointer.y)}
                    {...findBetween(pointer, drawnBetween)}
                    counter={findCounter(pointer)}
                    excess={excess}
                    at={pointer}
                    scroll={scroll}
                    size={size}
                />
            )}
        </div>
    );
}

/* What is heard of the call that was gone to. */
function wordsOf({ region, enter_ns, leave_ns, depth }: CallAt): string {
    const lane = nameOfLocation(chosenCall.value!.location);
    return `${regionName(region)}, ${formatTime(leave_ns - enter_ns)}, on ${lane} at ${formatTime(enter_ns)}, depth ${depth}`;
}

function clampEnds(times: number[], whole: Span): Span {
    const [a, b] = times.map((t) => Math.min(Math.max(t, whole[0]), whole[1]));
    return [Math.min(a, b), Math.max(a, b)];
}

function summary(
    it: Shown | null,
    window: Span,
    lanes: Lane[],
    counter: CounterDrawn | null,
): string {
    const ranks = lanes.filter(({ isNested }) => !isNested).length;
    const threads = lanes.length > ranks ? ` and ${lanes.length - ranks} threads` : "";
    return `Calls of ${ranks} ranks${threads} from ${formatTime(window[0])} to ${formatTime(window[1])}${it ? `, around ${it.id}: ${it.why}` : ""}${counter ? `. ${counterNote(counter)}` : ""}`;
}
