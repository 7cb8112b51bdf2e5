// The timeline: the selected execution and the ranks it exchanged messages with, from the whole run
// down to nanoseconds. Ctrl and the wheel zoom, dragging pans, a click marks a call path.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { holdsRow, isOnPath, lookup, Lookup, pathOfCall } from "../canvas/callers";
import { callAt, Calls, heightOf, layOutBlocks } from "../canvas/rows";
import {
    Arrows,
    axisHeight,
    chooseArrows,
    drawNames,
    drawTimeline,
    Link,
    Scene,
} from "../canvas/timeline_draw";
import { clampSpan, panSpan, Span, zoomSpan } from "../canvas/window";
import { Shown } from "../api/types";
import { regionColour, Rgb } from "../format/colour";
import { locationName } from "../format/ids";
import { formatCount, formatTime, plural } from "../format/units";
import { Movable, offerMovable, pointAt } from "../state/keys";
import { retryExecutions } from "../state/load";
import { markedPaths, togglePath } from "../state/marks";
import { regionName } from "../state/names";
import {
    executions,
    executionsError,
    mark,
    markedCalls,
    openRanks,
    regions,
    run,
    selected,
    shownRanks,
    theme,
    timeWindow,
} from "../state/store";
import { shown } from "./detail";
import { Minimap } from "./minimap";
import { Empty, Failed, Loading, Panel } from "./panel";
import {
    locationOf,
    spanOf,
    usePartners,
    useRootDepth,
    useWindow,
    WindowData,
} from "./timeline_data";
import { newPen, usePicture } from "./pictures";
import { RankChoice, Search } from "./timeline_tools";
import { windowShown } from "./timeline_window";
import { cssColour, fitCanvas, pointerAt, Size, useSize } from "./use_canvas";

const left = 92; /* room for the names of ranks */

function colours(): (region: number) => Rgb {
    const known = new Map<number, Rgb>();
    return (region) => {
        if (!known.has(region)) known.set(region, regionColour(regionName(region)));
        return known.get(region)!;
    };
}

function nameOfLocation(id: number): string {
    const place = run.value?.locations.find((l) => l.id === id);
    return place ? locationName(place.rank, place.thread) : String(id);
}

function linksOf(it: Shown | null): Link[] {
    return (it?.cause ?? []).flatMap((link) => {
        const location = locationOf(link.rank, link.thread)?.id;
        return location === undefined
            ? []
            : [{ location, call: link.call, begin_ns: link.begin_ns, end_ns: link.end_ns }];
    });
}

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

/* Says so when messages of the window are not drawn. */
function MessageCount({ data, arrows }: { data: WindowData; arrows: Arrows }) {
    const fetched = data.messages.n;
    const isAll = data.totalMessages <= fetched;
    const all = isAll
        ? arrows.inWindow
        : Math.round((arrows.inWindow * data.totalMessages) / Math.max(1, fetched));
    if (all <= arrows.drawn) return null;
    return (
        <span
            class="messages"
            title="All of the selected execution; the others where there are few. Zoom in to see them."
        >
            {formatCount(arrows.drawn)} of {isAll ? "" : "about "}
            {plural(all, "message")} drawn
        </span>
    );
}

function Hover(props: { calls: Calls; i: number; x: number; y: number; size: Size }) {
    const { calls, i, size } = props;
    const px = (units: number) => `${units * size.scale}px`;
    const isRight = props.x > size.width / 2;
    return (
        <div
            class="hover"
            style={{
                top: px(props.y + 14),
                [isRight ? "right" : "left"]: px(
                    (isRight ? size.width - props.x : props.x) + 12,
                ),
            }}
        >
            <b>{regionName(calls.region[i])}</b>{" "}
            {calls.merged[i] > 1 ? `${formatCount(calls.merged[i])} calls in ` : ""}
            {formatTime(calls.end_ns[i] - calls.begin_ns[i])}
            <br />
            {nameOfLocation(calls.location[i])}, at {formatTime(calls.begin_ns[i])}
        </div>
    );
}

interface CanvasProps {
    it: Shown | null;
    data: WindowData;
    arrows: Arrows | null;
    window: Span;
    whole: Span;
    locations: number[];
    rootDepth: number | null;
    set: (window: Span) => void;
}

function TimelineCanvas(props: CanvasProps) {
    const { it, data, window, whole, locations } = props;
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(box);
    const [scroll, setScroll] = useState(0);
    const folds = openRanks.value;
    const [hover, setHover] = useState<{ i: number; x: number; y: number } | null>(null);
    const drag = useRef<{ x: number; window: Span; isMoved: boolean } | null>(null);

    const links = useMemo(() => linksOf(it), [it]);
    // Partners are folded only where there is no room for all.
    const room = size.height - axisHeight;
    const areAllOpen = useMemo(
        () => heightOf(layOutBlocks(locations, data.calls, () => true)) <= room,
        [locations.join(), data.calls, room],
    );
    const isOpen = (location: number) =>
        folds[location] ??
        (areAllOpen || location === it?.location || links.some((l) => l.location === location));
    const blocks = useMemo(
        () => layOutBlocks(locations, data.calls, isOpen),
        [locations.join(), data.calls, folds, it, areAllOpen],
    );
    const colour = useMemo(colours, [regions.value]);
    const callers = useMemo(() => lookup(data.calls), [data.calls]);
    const isMarked = marker(data.calls, callers, it, props.rootDepth);

    const palette = useMemo(
        () => ({
            ink: cssColour("--ink"),
            dim: cssColour("--dim"),
            hot: cssColour(it?.verdict === "anomaly" ? "--hot" : "--dim"),
            onHot: it?.verdict === "anomaly" ? "#000" : cssColour("--panel"),
            paper: cssColour("--panel"),
        }),
        [theme.value, it?.verdict],
    );
    const sceneOf = (height: number, scrolled: number): Scene => ({
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
        colour,
        name: regionName,
        isMarked,
        ...palette,
    });
    usePicture("timeline", () => {
        const pen = newPen();
        const scene = sceneOf(axisHeight + heightOf(blocks), 0);
        drawTimeline(pen, scene);
        drawNames(pen, scene, nameOfLocation);
        return { width: scene.width, height: scene.height, content: pen.toString() };
    });
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
        props.rootDepth,
    ]);

    const nsPerPixel = (window[1] - window[0]) / Math.max(1, size.width - left);
    const timeAt = (x: number) => window[0] + (x - left) * nsPerPixel;
    const at = (event: MouseEvent) => pointerAt(event, canvas.current!, size);
    const px = (units: number) => `${units * size.scale}px`;
    const find = (x: number, y: number) =>
        y < axisHeight || x < left
            ? -1
            : callAt(data.calls, blocks, timeAt(x), nsPerPixel, y - axisHeight + scroll);

    // Not passive: the wheel would scroll the page as well.
    const wheel = useRef<(event: WheelEvent) => void>(() => undefined);
    wheel.current = (event) => {
        if (event.ctrlKey || event.metaKey) {
            event.preventDefault();
            props.set(
                zoomSpan(window, Math.exp(-event.deltaY * 0.004), timeAt(at(event)[0]), whole),
            );
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            event.preventDefault();
            props.set(
                panSpan(
                    window,
                    (event.deltaX || event.deltaY) / Math.max(1, size.width * size.scale),
                    whole,
                ),
            );
        }
    };
    useEffect(() => {
        const element = canvas.current!;
        const listener = (event: WheelEvent) => wheel.current(event);
        element.addEventListener("wheel", listener, { passive: false });
        return () => element.removeEventListener("wheel", listener);
    }, []);

    const markCall = (i: number) => {
        if (props.rootDepth === null || data.calls.depth[i] < props.rootDepth) return;
        const path = pathOfCall(data.calls, callers, i, props.rootDepth);
        if (path) togglePath(path.map(regionName));
    };
    const zoomTo = (i: number) => {
        const margin = (data.calls.end_ns[i] - data.calls.begin_ns[i]) * 0.1;
        props.set(
            clampSpan([data.calls.begin_ns[i] - margin, data.calls.end_ns[i] + margin], whole),
        );
    };

    return (
        <div
            class="timeline-scroll"
            ref={box}
            tabIndex={0}
            role="region"
            aria-label="Calls over time"
            onScroll={(e) => setScroll(e.currentTarget.scrollTop / size.scale)}
        >
            <canvas
                ref={canvas}
                class="timeline-canvas"
                role="img"
                aria-label={summary(it, window, locations.length)}
                style={{ width: px(size.width), height: px(size.height) }}
                onPointerDown={(e) => {
                    canvas.current!.setPointerCapture(e.pointerId);
                    drag.current = { x: at(e)[0], window, isMoved: false };
                }}
                onPointerMove={(e) => {
                    const [x, y] = at(e);
                    const d = drag.current;
                    if (d && (d.isMoved || Math.abs(x - d.x) > 3)) {
                        d.isMoved = true;
                        setHover(null);
                        props.set(
                            panSpan(
                                d.window,
                                (d.x - x) / Math.max(1, size.width - left),
                                whole,
                            ),
                        );
                    } else if (!d) {
                        const i = find(x, y);
                        setHover(i < 0 ? null : { i, x, y });
                    }
                }}
                onPointerUp={(e) => {
                    const isClick = drag.current && !drag.current.isMoved;
                    drag.current = null;
                    const i = isClick ? find(...at(e)) : -1;
                    if (i >= 0) markCall(i);
                }}
                onDblClick={(e) => {
                    const i = find(...at(e));
                    if (i >= 0) zoomTo(i);
                }}
                onPointerLeave={() => setHover(null)}
            />
            <div
                class="timeline-height"
                style={{ height: px(Math.max(0, heightOf(blocks) + axisHeight - size.height)) }}
            />
            {blocks.map((block) => {
                const top = axisHeight + block.top;
                if (top - scroll < axisHeight - 4)
                    return null; /* below the axis, it would cover it */
                return (
                    <button
                        key={block.location}
                        class={`rank-name${block.location === it?.location ? " own" : ""}`}
                        style={{ top: px(top), width: px(left - 6) }}
                        aria-expanded={isOpen(block.location)}
                        onClick={() =>
                            (openRanks.value = {
                                ...folds,
                                [block.location]: !isOpen(block.location),
                            })
                        }
                    >
                        {isOpen(block.location) ? "▾" : "▸"} {nameOfLocation(block.location)}
                    </button>
                );
            })}
            {hover && hover.i < data.calls.n && (
                <Hover calls={data.calls} {...hover} y={hover.y + scroll} size={size} />
            )}
        </div>
    );
}

function summary(it: Shown | null, window: Span, n: number): string {
    return `Calls of ${n} ranks from ${formatTime(window[0])} to ${formatTime(window[1])}${it ? `, around ${it.id}: ${it.why}` : ""}`;
}

export function Timeline() {
    const of = run.value!;
    const whole: Span = [of.begin_ns, Math.max(of.end_ns, of.begin_ns + 1)];
    const it = shown.value?.value ?? null;
    const wanted =
        timeWindow.value ?? spanOf(selected.value) ?? (executions.value ? whole : null);
    const window = wanted && clampSpan(wanted, whole);
    const partners = usePartners(it);
    const locations = shownRanks.value ?? partners.value ?? (it ? [it.location] : []);
    const body = useRef<HTMLDivElement>(null);
    const { width } = useSize(body);
    const data = useWindow(window, whole, width - left, locations);
    const rootDepth = useRootDepth(it);
    const set = (next: Span) => (timeWindow.value = next);

    windowShown.value =
        window && locations.length ? { begin: window[0], end: window[1], locations } : null;

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
    // Once: the selected execution. Twice: the whole run.
    movable.current.fit = () => (timeWindow.value = timeWindow.value === null ? whole : null);
    useEffect(() => offerMovable(movable.current), []);

    const own = it && { location: it.location, begin_ns: it.enter_ns, end_ns: it.exit_ns };
    const arrows = useMemo(
        () =>
            data.value && window
                ? chooseArrows(data.value.messages, window, width - left, own, locations)
                : null,
        [data.value, window?.join(), width, it, locations.join()],
    );
    const tools = window && (
        <>
            {data.value && arrows && <MessageCount data={data.value} arrows={arrows} />}
            <Search
                window={window}
                go={(next, location) => {
                    if (!locations.includes(location))
                        shownRanks.value = [...locations, location];
                    set(clampSpan(next, whole));
                }}
            />
            <RankChoice shown={locations} partners={partners.value ?? []} />
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
                title="The selected execution (F), or the whole run (F again)"
                onClick={() => movable.current.fit()}
            >
                Fit
            </button>
        </>
    );
    return (
        <Panel name="timeline" tools={tools}>
            <div class="timeline" ref={body} onPointerMove={() => pointAt(movable.current)}>
                {window && (
                    <Minimap all={executions.value} whole={whole} window={window} set={set} />
                )}
                {data.error ? (
                    <Failed text={data.error} retry={data.retry} />
                ) : data.value && window && locations.length ? (
                    <TimelineCanvas
                        it={it}
                        data={data.value}
                        arrows={arrows}
                        window={window}
                        whole={whole}
                        locations={locations}
                        rootDepth={rootDepth}
                        set={set}
                    />
                ) : !window && executionsError.value ? (
                    <Failed text={executionsError.value} retry={retryExecutions} />
                ) : selected.value === null ? (
                    <Empty>Choose an execution to see it over time.</Empty>
                ) : (
                    <Loading what="the timeline" />
                )}
            </div>
        </Panel>
    );
}
