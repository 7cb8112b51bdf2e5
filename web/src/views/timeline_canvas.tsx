// The lanes of the timeline: calls, messages, what is chosen. Dragging measures an area, along the axis
// it zooms, with Shift it pans; Ctrl and the wheel zoom; a click chooses a call or a message.
import { useEffect, useRef, useState } from "preact/hooks";
import { pathOfCall } from "../canvas/callers";
import { CollectiveColumns } from "../canvas/collectives_draw";
import { heightOf, lanesBetween, pinnedHeight } from "../canvas/rows";
import { axisHeight, drawTimeline, foundAt, heightAt } from "../canvas/timeline_draw";
import { clampSpan, Span } from "../canvas/window";
import { CallAt } from "../api/types";
import { RunKey, runKeys } from "../state/keys";
import { togglePath } from "../state/marks";
import { regionName } from "../state/names";
import { locationsById } from "../state/places";
import { CallOfLocation, sought, soughtLane } from "../state/reveal";
import { rootDepth } from "../state/selected";
import { messageOf } from "../state/timeline";
import { walk } from "../state/walk";
import {
    Area,
    area,
    chosenCall,
    chosenCollective,
    chosenMessage,
    measuredFrom,
} from "../state/store";
import { Canvas, Drag, Point } from "./canvas";
import { AreaOverlay } from "./timeline_area";
import { BetweenOverlay } from "./timeline_between";
import { LaneNames, toggleCalls, togglePin, toggleThreads } from "./timeline_lanes";
import { left } from "./timeline_scene";
import { summary, wordsAt, wordsOf } from "./timeline_words";
import { useSize } from "./use_size";
import { useTimeAxis } from "./use_time_axis";
import { TimelineProps, useTimelineScene } from "./use_timeline_scene";

/* A call by which a collective is found again. */
function memberOf({ parts }: CollectiveColumns, collective: number): CallOfLocation {
    const i = parts.of.indexOf(collective);
    return { location: parts.location[i], call: parts.call[i] };
}

function clampEnds(times: number[], whole: Span): Span {
    const [a, b] = times.map((t) => Math.min(Math.max(t, whole[0]), whole[1]));
    return [Math.min(a, b), Math.max(a, b)];
}

export function TimelineCanvas(props: TimelineProps) {
    const { it, data, window, whole, lanes } = props;
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const [scroll, setScroll] = useState(0);
    const [drawn, setDrawn] = useState<Area | null>(null); /* while it is drawn */
    const timeline = useTimelineScene(props, size, scroll);
    const { scene, blocks, isOpen } = timeline;
    const depthOfRoot = rootDepth.value;

    // What was asked for is scrolled to once it has a lane, and its depth is known; and again when the room for it or the
    // lanes change, as the page is laid out, while nobody has scrolled since.
    const kept = useRef<{ to: CallOfLocation | null; top: number }>({ to: null, top: 0 });
    useEffect(() => {
        const now = box.current!;
        const lowest = now.scrollHeight - now.clientHeight;
        const isKept = now.scrollTop === Math.min(kept.current.top, lowest);
        const to = sought.value ?? (isKept ? kept.current.to : null);
        const block = to && blocks.find(({ location }) => location === to.location);
        if (!to || !block || !size.height || to !== chosenCall.value || !props.chosen) return;
        const top = block.top + props.chosen.depth * block.row;
        const room = size.height - axisHeight;
        const end = top + block.row;
        const above = block.isPinned ? 0 : pinnedHeight(blocks);
        const from =
            end - block.top <= room - above ? block.top : top; /* the name of the lane, too */
        const at = now.scrollTop / size.scale;
        const isSeen = block.isPinned || (from >= at + above && end <= at + room);
        const goal = from === block.top ? from - above : top - room / 3;
        if (!isSeen) now.scrollTop = Math.max(0, goal) * size.scale;
        kept.current = { to, top: now.scrollTop };
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

    const axis = useTimeAxis(size, { left, window, whole, set: props.set });
    const px = (units: number) => `${units * size.scale}px`;
    const find = ({ x, y }: Point) => foundAt(scene, timeline.between(), x, y);

    const markCall = (i: number) => {
        if (depthOfRoot === null || data.calls.depth[i] < depthOfRoot) return;
        const path = pathOfCall(data.calls, timeline.callers, i, depthOfRoot);
        if (path) togglePath(path.map(regionName));
    };
    const choose = (at: Point, { shiftKey }: MouseEvent) => {
        const { message, collective, call } = find(at);
        const i = message < 0 && collective < 0 ? call : -1;
        area.value = null;
        if (shiftKey && i >= 0) measuredFrom.value ??= chosenCall.value;
        chosenCollective.value = collective < 0 ? null : memberOf(data.collectives, collective);
        chosenMessage.value = message < 0 ? null : messageOf(data.messages, message);
        chosenCall.value =
            i < 0 ? null : { location: data.calls.location[i], call: data.calls.call[i] };
        if (i >= 0 && !shiftKey) markCall(i);
    };
    const drawArea = (from: Point, isZoom: boolean): Drag => {
        let of: Area | null = null;
        return {
            to: ({ x, y }) => {
                const times = [from.x, x].map((at) => axis.timeAt(Math.max(left, at)));
                const [begin, end] = clampEnds(times, whole);
                const locations = isZoom
                    ? blocks.map((b) => b.location)
                    : lanesBetween(blocks, heightAt(scene, from.y), heightAt(scene, y));
                setDrawn((of = end > begin ? { begin, end, locations } : null));
            },
            end: () => {
                setDrawn(null);
                if (!of) return false;
                if (isZoom) props.set(clampSpan([of.begin, of.end], whole));
                else area.value = of;
            },
        };
    };
    const atLane = chosenCall.value?.location ?? it?.location ?? lanes[0]?.location;
    const rankAt = locationsById.value.get(atLane)?.rank;
    const laneActs: Partial<Record<RunKey, (event: KeyboardEvent) => void>> = {
        callBefore: () => walk("before"),
        callAfter: () => walk("after"),
        caller: ({ shiftKey }) => walk(shiftKey ? "lane-up" : "up"),
        called: ({ shiftKey }) => walk(shiftKey ? "lane-down" : "down"),
        threads: () => rankAt !== undefined && toggleThreads(rankAt, it?.location ?? null),
        pin: () => rankAt !== undefined && togglePin(rankAt),
        fold: () => toggleCalls(atLane, isOpen(atLane)),
        mark: () => props.chosen && markPath(props.chosen),
    };
    const markPath = ({ path, depth }: CallAt) => {
        if (depthOfRoot !== null && depth >= depthOfRoot)
            togglePath(path.slice(depthOfRoot).map(regionName));
    };
    const keys = (event: KeyboardEvent) => {
        const heard = runKeys.heard(event, "timeline");
        return heard && (() => laneActs[heard[0]]?.(event));
    };

    return (
        <Canvas
            box={box}
            size={size}
            class="timeline-scroll"
            canvasClass="timeline-canvas"
            style={{ width: px(size.width), height: px(size.height) }}
            label={summary(it, window, lanes, props.counter)}
            isBusy={props.isBusy}
            of={timeline.of}
            draw={(pen) => drawTimeline(pen, scene)}
            says={(at) => wordsAt(data, find(at), timeline.excess)}
            choose={choose}
            open={(at) => {
                const { call: i } = find(at);
                if (i >= 0) axis.zoomTo(data.calls.begin_ns[i], data.calls.end_ns[i]);
            }}
            drag={(from, event) => {
                if (from.x < left) return null;
                return event.shiftKey ? axis.drag(from) : drawArea(from, from.y < axisHeight);
            }}
            mover={axis.mover}
            keys={keys}
            role="application"
            name="Calls over time"
            scroll={scroll}
            onScroll={setScroll}
        >
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
            <BetweenOverlay blocks={blocks} window={window} scroll={scroll} size={size} />
            {(drawn ?? area.value) && (
                <AreaOverlay
                    of={(drawn ?? area.value)!}
                    blocks={blocks}
                    window={window}
                    scroll={scroll}
                    size={size}
                />
            )}
        </Canvas>
    );
}
