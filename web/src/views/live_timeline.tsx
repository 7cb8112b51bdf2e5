// What happened around the call of a record, on its thread and on those it waited for: the drawing
// of the timeline, of the windows that the record has.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Lane, LiveRecord } from "../api/live_types";
import { sceneOfLanes } from "../canvas/record_scene";
import { callAt, heightOf, layOutBlocks, plainLanes } from "../canvas/rows";
import { axisHeight, chooseArrows, drawTimeline } from "../canvas/timeline_draw";
import { panSpan, Span, zoomSpan } from "../canvas/window";
import { regionColour } from "../format/colour";
import { formatMoment, formatTime, plural } from "../format/units";
import { Movable, offerMovable, pointAt } from "../state/keys";
import { shortName } from "../state/live";
import { theme } from "../state/store";
import { HoverBox } from "./hover_box";
import { Empty } from "./panel";
import { cssColour, fitCanvas, useSize } from "./use_canvas";
import { useTimeAxis } from "./use_time_axis";

const left = 92; /* room for the names of ranks */

const nameOfLane = (lane: Lane) =>
    `rank ${lane.rank}${lane.thread ? `, thread ${lane.thread}` : ""}`;

export function LiveTimeline({ of }: { of: LiveRecord }) {
    const { lanes } = of;
    const scene = useMemo(() => sceneOfLanes(lanes, of.record.cause ?? []), [of]);
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(box);
    const [span, setSpan] = useState<Span>(scene.span);
    const [hover, setHover] = useState<{ i: number; x: number; y: number } | null>(null);
    const drag = useRef<{ x: number; span: Span; isMoved: boolean } | null>(null);
    useEffect(() => setSpan(scene.span), [scene]);

    const locations = lanes.map((_, i) => i);
    const blocks = useMemo(
        () => layOutBlocks(plainLanes(locations), scene.calls, () => true),
        [scene],
    );
    const height = axisHeight + heightOf(blocks);
    const own = useMemo(() => {
        const i = scene.isThis.indexOf(1);
        const { begin_ns, end_ns } = scene.calls;
        return i < 0 ? null : { location: 0, begin_ns: begin_ns[i], end_ns: end_ns[i] };
    }, [scene]);
    const arrows = useMemo(
        () => chooseArrows(scene.messages, span, size.width - left, own, locations),
        [scene, span, size.width],
    );

    const movable = useRef<Movable>({ zoom: () => {}, pan: () => {}, fit: () => {} });
    movable.current.zoom = (factor) =>
        setSpan((s) => zoomSpan(s, factor, (s[0] + s[1]) / 2, scene.whole));
    movable.current.pan = (share) => setSpan((s) => panSpan(s, share, scene.whole));
    // Once: the call. Twice: all of the windows.
    movable.current.fit = () =>
        setSpan((s) => (s.join() === scene.span.join() ? scene.whole : scene.span));
    useEffect(() => offerMovable(movable.current), []);

    useEffect(() => {
        if (!size.width) return;
        fitCanvas(canvas.current!, { ...size, height });
        const c = canvas.current!.getContext("2d")!;
        c.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
        const isAnomaly = of.collection === "anomalies";
        drawTimeline(c, {
            window: span,
            left,
            width: size.width,
            height,
            scroll: 0,
            blocks,
            calls: scene.calls,
            messages: scene.messages,
            arrows,
            own: null,
            links: scene.links.length > 1 ? scene.links : [],
            colour: (region) => regionColour(shortName(scene.names[region])),
            name: (region) => shortName(scene.names[region]),
            isMarked: (i) => scene.isThis[i] === 1 || scene.isAnomaly[i] === 1,
            ink: cssColour("--ink"),
            dim: cssColour("--dim"),
            hot: cssColour(isAnomaly ? "--hot" : "--dim"),
            onHot: isAnomaly ? "#000" : cssColour("--panel"),
            paper: cssColour("--panel"),
        });
    }, [span, size, blocks, scene, arrows, theme.value]);

    const axis = useTimeAxis(canvas, size, {
        left,
        window: span,
        whole: scene.whole,
        set: setSpan,
    });
    const { nsPerPixel, timeAt, at } = axis;
    const find = (x: number, y: number) =>
        x < left || y < axisHeight
            ? -1
            : callAt(scene.calls, blocks, timeAt(x), nsPerPixel, y - axisHeight);
    const move = (event: PointerEvent) => {
        const [x, y] = at(event);
        const d = drag.current;
        if (d && (d.isMoved || Math.abs(x - d.x) > 3)) {
            d.isMoved = true;
            setHover(null);
            axis.drag(d.span, x - d.x);
        } else if (!d) {
            const i = find(x, y);
            setHover(i < 0 ? null : { i, x, y });
        }
    };
    const zoomTo = (event: MouseEvent) => {
        const i = find(...at(event));
        if (i < 0) return;
        axis.zoomTo(scene.calls.begin_ns[i], scene.calls.end_ns[i]);
    };

    const momentOf = (ns: number) => formatMoment(ns, (span[1] - span[0]) / 100);
    const px = (units: number) => `${units * size.scale}px`;
    if (!scene.calls.n) return <Empty>The record has no calls around it.</Empty>;
    const { n } = scene.messages;
    return (
        <div class="live-timeline" onPointerMove={() => pointAt(movable.current)}>
            <h3>
                Around it{" "}
                <span class="live-zoom">
                    <button
                        aria-label="Zoom out"
                        title="Zoom out (S)"
                        onClick={() => movable.current.zoom(1 / 2)}
                    >
                        −
                    </button>
                    <button
                        aria-label="Zoom in"
                        title="Zoom in (W)"
                        onClick={() => movable.current.zoom(2)}
                    >
                        +
                    </button>
                    <button
                        title="The call (F), or all of the record (F again)"
                        onClick={() => movable.current.fit()}
                    >
                        Fit
                    </button>
                </span>
            </h3>
            <div class="live-lanes" ref={box}>
                <canvas
                    ref={canvas}
                    class="timeline-canvas"
                    role="img"
                    aria-label={`Calls of ${lanes.map(nameOfLane).join(" and ")} from ${momentOf(span[0])} to ${momentOf(span[1])}, ${plural(n, "message")} between them`}
                    style={{ width: px(size.width), height: px(height) }}
                    onPointerDown={(event) => {
                        canvas.current!.setPointerCapture(event.pointerId);
                        drag.current = { x: at(event)[0], span, isMoved: false };
                    }}
                    onPointerMove={move}
                    onPointerUp={() => (drag.current = null)}
                    onPointerLeave={() => setHover(null)}
                    onDblClick={zoomTo}
                />
                {blocks.map((block) => (
                    <span
                        class={`rank-name${block.location ? "" : " own"}`}
                        style={{ top: px(axisHeight + block.top), width: px(left - 14) }}
                    >
                        {nameOfLane(lanes[block.location])}
                    </span>
                ))}
                {hover && hover.i < scene.calls.n && (
                    <HoverBox x={hover.x} y={hover.y} size={size}>
                        <b>{shortName(scene.names[scene.calls.region[hover.i]])}</b>{" "}
                        {formatTime(
                            scene.calls.end_ns[hover.i] - scene.calls.begin_ns[hover.i],
                        )}
                        {scene.isAnomaly[hover.i] ? ", anomaly" : ""}
                        <br />
                        at {formatTime(scene.calls.begin_ns[hover.i])}
                    </HoverBox>
                )}
            </div>
            <p class="dim live-note">
                Outlined: strange calls. {plural(n, "message")} between these ranks
                {scene.others > 0 &&
                    `; of ${plural(scene.others, "more", "more")} the other end is on a rank that the record does not have`}
                .
            </p>
        </div>
    );
}
