// What happened around the call of a record, on its thread and on those it waited for: the drawing
// of the timeline, of the windows that the record has.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Lane, LiveRecord } from "../api/live_types";
import { sceneOfLanes } from "../canvas/record_scene";
import { heightOf, layOutBlocks, plainLanes } from "../canvas/rows";
import {
    axisHeight,
    chooseArrows,
    drawTimeline,
    foundAt,
    Scene,
} from "../canvas/timeline_draw";
import { panSpan, Span, zoomSpan } from "../canvas/window";
import { regionColour } from "../format/colour";
import { formatMoment, formatTime, plural } from "../format/units";
import { liveKeys } from "../state/live_keys";
import { Movable, offerMovable, pointAt } from "../state/movable";
import { shortName } from "../state/live";
import { theme } from "../state/store";
import { Canvas, Point } from "./canvas";
import { timelineInks } from "./inks";
import { Empty } from "./panel";
import { ZoomButtons } from "./timeline_tools";
import { useSize } from "./use_size";
import { useTimeAxis } from "./use_time_axis";

const left = 92; /* room for the names of ranks */
const nothingBetween = { lines: [], shapes: [] }; /* that words are said of */

const fit = liveKeys.keyOf("fit");

const nameOfLane = (lane: Lane) =>
    `rank ${lane.rank}${lane.thread ? `, thread ${lane.thread}` : ""}`;

export function LiveTimeline({ of }: { of: LiveRecord }) {
    const { lanes } = of;
    const scene = useMemo(() => sceneOfLanes(lanes, of.record.cause ?? []), [of]);
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const [span, setSpan] = useState<Span>(scene.span);
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

    const drawn: Scene = {
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
        ...timelineInks(of.collection === "anomalies"),
    };
    const axis = useTimeAxis(size, { left, window: span, whole: scene.whole, set: setSpan });
    const find = ({ x, y }: Point) => foundAt(drawn, nothingBetween, x, y).call;
    const { begin_ns, end_ns } = scene.calls;
    const says = (at: Point) => {
        const i = find(at);
        if (i < 0) return null;
        return (
            <>
                <b>{shortName(scene.names[scene.calls.region[i]])}</b>{" "}
                {formatTime(end_ns[i] - begin_ns[i])}
                {scene.isAnomaly[i] ? ", anomaly" : ""}
                <br />
                at {formatTime(begin_ns[i])}
            </>
        );
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
                    <ZoomButtons
                        zoom={movable.current.zoom}
                        fit={movable.current.fit}
                        fits={`The call (${fit}), or all of the record (${fit} again)`}
                    />
                </span>
            </h3>
            <Canvas
                box={box}
                size={{ ...size, height }}
                class="live-lanes"
                canvasClass="timeline-canvas"
                style={{ width: px(size.width), height: px(height) }}
                label={`Calls of ${lanes.map(nameOfLane).join(" and ")} from ${momentOf(span[0])} to ${momentOf(span[1])}, ${plural(n, "message")} between them`}
                of={[span, blocks, scene, arrows, theme.value]}
                draw={(pen) => drawTimeline(pen, drawn)}
                says={says}
                open={(at) => {
                    const i = find(at);
                    if (i >= 0) axis.zoomTo(begin_ns[i], end_ns[i]);
                }}
                drag={axis.drag}
                mover={axis.mover}
            >
                {blocks.map((block) => (
                    <span
                        class={`rank-name${block.location ? "" : " own"}`}
                        style={{ top: px(axisHeight + block.top), width: px(left - 14) }}
                    >
                        {nameOfLane(lanes[block.location])}
                    </span>
                ))}
            </Canvas>
            <p class="dim live-note">
                Outlined: strange calls. {plural(n, "message")} between these ranks, paired in
                the order of sends and receipts
                {scene.others > 0 &&
                    `; of ${plural(scene.others, "more send or receipt", "more sends and receipts")} the other end is not in the record, or not known`}
                .
            </p>
        </div>
    );
}
