// The lanes of two executions on one canvas: calls coloured by how the time of their call path changed, one pointer for both.
import { useMemo, useRef, useState } from "preact/hooks";
import { ComparisonTree, Pair } from "../api/compare_types";
import {
    arrangeLanes,
    ComparedLane,
    comparedPairs,
    ComparedScene,
    joinSides,
    laneOf,
    meansOf,
    PathRow,
} from "../canvas/compared_calls";
import { Both, both, inclusiveTimes, Side, sides } from "../canvas/difference";
import { Calls, heightOf, layOutBlocks } from "../canvas/rows";
import {
    axisHeight,
    chooseArrows,
    Covered,
    drawNames,
    drawTimeline,
    foundAt,
    MessageColumns,
    Scene,
    toX,
} from "../canvas/timeline_draw";
import { Span } from "../canvas/window";
import { changeColour, changeOf, formatCalls, formatChange, lastNames } from "../format/change";
import { css } from "../format/colour";
import { comingColour, unknownColour } from "../format/palette";
import { formatExcess, formatMoment, formatTime } from "../format/units";
import { choosePath, pathChosen } from "../state/compared";
import { comparedKeys } from "../state/compared_keys";
import {
    callsNow,
    lanesBy,
    movablePair,
    PairData,
    setPairWindow,
    ShownSide,
    Trees,
    treesQuery,
    wholeNow,
} from "../state/compared_timelines";
import { theme } from "../state/store";
import { Canvas, Point } from "./canvas";
import { changeKeys } from "./compared_icicle";
import { timelineInks } from "./inks";
import { Name } from "./name";
import { Failed } from "./panel";
import { newPen, Picture, usePicture } from "./pictures";
import { useSize } from "./use_size";
import { useTimeAxis } from "./use_time_axis";

export const left = 124; /* room for the names of lanes */
const nothingBetween = { lines: [], shapes: [] }; /* that words are said of */
const panShare = 0.1;

const noCalls: Calls = {
    n: 0,
    begin_ns: new Float64Array(),
    end_ns: new Float64Array(),
    location: new Uint32Array(),
    depth: new Uint16Array(),
    region: new Uint32Array(),
    call: new Uint32Array(),
    merged: new Uint32Array(),
};
const noMessages = {
    n: 0,
    send_ns: new Float64Array(),
    recv_ns: new Float64Array(),
    from: new Uint32Array(),
    to: new Uint32Array(),
    send_call: new Uint32Array(),
    recv_call: new Uint32Array(),
} as MessageColumns;

function lanesOf(now: Both<ShownSide>, trees: Trees | null, side: Side): ComparedLane[] {
    const { rows } = now[side].of;
    return now[side].lanes.map(({ row, ...lane }) => ({
        ...lane,
        tree:
            row < 0
                ? null
                : {
                      begin_ns: rows.enter_ns[row],
                      end_ns: rows.enter_ns[row] + rows.duration_ns[row],
                      nodes: trees?.[side].get(row) ?? null,
                  },
    }));
}

/* What is here of each lane; beyond the ends of a run there is nothing to wait for. */
function coveredOf(data: PairData | null): Covered[] {
    if (!data) return [];
    return sides.map((side) => {
        const { start_ns, whole, lanes } = data.of.now[side];
        const [begin, end] = data.of.windows[side].span;
        return {
            span: [
                begin <= whole[0] ? -Infinity : begin - start_ns,
                end >= whole[1] ? Infinity : end - start_ns,
            ],
            locations: lanes.map((_, at) => laneOf(side, at, data.of.now.before.lanes.length)),
        };
    });
}

interface Known {
    scene: ComparedScene;
    pairs: Set<number> /* of lanes that are compared */;
    areComing: boolean /* what paths took is on its way */;
}

function rowOf({ scene, pairs }: Known, i: number): PathRow | null {
    const row = scene.rows[scene.row[i]];
    return row && pairs.has(row.pair) ? row : null;
}

function isOfOne({ calls }: PathRow): boolean {
    return calls[0] === 0 || calls[1] === 0;
}

function callsOf(n: number): string {
    return `${formatCalls(n)} ${n === 1 ? "call" : "calls"}`;
}

/* "200 us before (2 calls), 300 us after (2 calls), +50.0 %" */
function timesOf({ ns, calls }: PathRow): string {
    const said = sides.map((side, s) =>
        calls[s] > 0 ? `${formatTime(ns[s])} ${side} (${callsOf(calls[s])})` : `not ${side}`,
    );
    const change = isOfOne({ ns, calls } as PathRow)
        ? ""
        : `: ${formatExcess(ns[1] - ns[0])}, ${formatChange(changeOf(...ns))}`;
    return said.join(", ") + change;
}

function CallWords(props: { known: Known; i: number; name: string; means: Map<string, Pair> }) {
    const { known, i, name, means } = props;
    const { calls } = known.scene;
    const row = rowOf(known, i);
    const mean = row && means.get(row.path);
    return (
        <>
            <b>
                <Name of={name} />
            </b>{" "}
            {calls.merged[i] > 1
                ? `the longest of ${calls.merged[i]} calls drawn as one`
                : formatTime(calls.end_ns[i] - calls.begin_ns[i])}
            , {formatMoment(calls.begin_ns[i], 10)} after the start
            <br />
            {row ? (
                <>
                    on {lastNames(row.path)} {timesOf(row)}
                    {mean && (
                        <>
                            <br />
                            <span class="dim">
                                on average {formatTime(mean[0])} before, {formatTime(mean[1])}{" "}
                                after
                            </span>
                        </>
                    )}
                </>
            ) : known.areComing ? (
                "what its path took is on its way"
            ) : (
                "not compared: it is outside of the two executions, or its callers are drawn several as one"
            )}
        </>
    );
}

interface Props {
    now: Both<ShownSide>;
    window: Span;
    tree: ComparisonTree;
}

/* Where the pointer is, over the lanes of both. */
function Cursor(props: { x: number; says: string; px: (units: number) => string }) {
    return (
        <div class="pair-cursor" style={{ left: props.px(props.x) }}>
            <span>{props.says}</span>
        </div>
    );
}

export function PairCanvas({ now, window, tree }: Props) {
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const [scroll, setScroll] = useState(0);
    const [pointer, setPointer] = useState<Point | null>(null);
    const answer = callsNow.value;
    const data = answer.value;
    const trees = treesQuery.answer.value;
    const shown = data?.of.now ?? now; /* lanes of what is drawn */
    const means = useMemo(() => meansOf(tree.nodes, inclusiveTimes(tree, null)), [tree]);
    const joined = useMemo(() => {
        const lanes = both((side) => lanesOf(shown, trees.value, side));
        const sideOf = (side: Side) => ({
            start_ns: shown[side].start_ns,
            name: shown[side].name,
            lanes: lanes[side],
            calls: data?.sides[side].calls ?? noCalls,
            messages: data?.sides[side].messages ?? noMessages,
        });
        return {
            scene: joinSides(both(sideOf)),
            pairs: comparedPairs(lanes),
        };
    }, [shown, data, trees.value]);
    const known = useMemo(
        (): Known => ({ ...joined, areComing: trees.isLoading }),
        [joined, trees.isLoading],
    );
    const { scene: of } = joined;
    const blocks = useMemo(
        () =>
            layOutBlocks(
                arrangeLanes(
                    { before: shown.before.lanes, after: shown.after.lanes },
                    lanesBy.value,
                ),
                of.calls,
                () => true,
            ),
        [of, lanesBy.value],
    );
    const nBefore = shown.before.lanes.length;
    const laneAt = (location: number) => {
        const side: Side = location < nBefore ? "before" : "after";
        const lane = shown[side].lanes[side === "before" ? location : location - nBefore];
        return { side, name: `${lane.name} ${side}` };
    };
    const framed = useMemo(
        () =>
            sides.flatMap((side) =>
                lanesOf(shown, null, side).flatMap(({ tree }, at) =>
                    tree
                        ? [
                              {
                                  location: laneOf(side, at, nBefore),
                                  begin_ns: tree.begin_ns - shown[side].start_ns,
                                  end_ns: tree.end_ns - shown[side].start_ns,
                              },
                          ]
                        : [],
                ),
            ),
        [shown],
    );
    const arrows = useMemo(
        () =>
            chooseArrows(
                of.messages,
                window,
                size.width - left,
                null,
                blocks.map(({ location }) => location),
            ),
        [of, window.join(), size.width, blocks],
    );
    const nameOf = (region: number) => of.names[region];
    const colourOf = (i: number) => {
        const row = rowOf(known, i);
        if (row) return changeColour(changeOf(...row.ns));
        return known.areComing ? comingColour : unknownColour;
    };
    const chosen = pathChosen.value;
    const inks = () => timelineInks(false);
    const palette = useMemo(inks, [theme.value]);
    const covered = useMemo(() => coveredOf(data), [data]);
    const markedBy = (pointed: string | null) => (i: number) => {
        const path = of.rows[of.row[i]]?.path;
        return path !== undefined && (path === chosen || path === pointed);
    };
    const sceneOf = (height: number, scrolled: number, ink: typeof palette): Scene => ({
        window,
        left,
        width: size.width,
        height,
        scroll: scrolled,
        blocks,
        calls: of.calls,
        covered,
        messages: of.messages,
        arrows,
        own: null,
        framed,
        links: [],
        colour: () => unknownColour,
        colourOf,
        name: nameOf,
        isMarked: markedBy(null),
        isOutlined: (i) => {
            const row = rowOf(known, i);
            return row !== null && isOfOne(row);
        },
        ...ink,
    });
    const plain = sceneOf(size.height, scroll, palette);
    const find = ({ x, y }: Point) => foundAt(plain, nothingBetween, x, y).call;
    const at = pointer ? find(pointer) : -1;
    const pointed = at < 0 ? null : (of.rows[of.row[at]]?.path ?? null);
    const scene = { ...plain, isMarked: markedBy(pointed) };
    usePicture("timelines", (): Picture => {
        const whole = sceneOf(axisHeight + heightOf(blocks), 0, inks());
        const pen = newPen();
        drawTimeline(pen, whole);
        drawNames(pen, whole, ({ location }) => laneAt(location).name);
        return {
            width: whole.width,
            height: whole.height,
            content: pen.toString(),
            about: sides
                .map((side) => `${side} ${shown[side].id} of ${shown[side].of.run.run}`)
                .join(", "),
            keys: [...changeKeys(), { colour: css(unknownColour), text: "not compared" }],
            notes: [
                "Across: time since the start of each execution.",
                "Colours: how the time on the call path changed between the two. Dashes: the other one has no such path.",
            ],
        };
    });

    const axis = useTimeAxis(size, {
        left,
        window,
        whole: wholeNow.value ?? window,
        set: setPairWindow,
    });
    const choose = (point: Point) => {
        const i = find(point);
        const path = i < 0 ? undefined : of.rows[of.row[i]]?.path;
        if (path !== undefined) choosePath(path);
    };
    const keys = (event: KeyboardEvent) => {
        const heard = comparedKeys.heard(event, "timeline");
        if (!heard) return undefined;
        return () => movablePair.pan(heard[0] === "panLeft" ? -panShare : panShare);
    };
    const px = (units: number) => `${units * size.scale}px`;
    const timeAt = pointer && pointer.x >= left ? axis.timeAt(pointer.x) : null;
    const own =
        chosen === null
            ? null
            : of.rows.find(({ path, pair }) => path === chosen && known.pairs.has(pair));
    const moment = (ns: number) => formatMoment(ns, (window[1] - window[0]) / 100);
    if (answer.error !== null && !data)
        return <Failed text={answer.error} retry={answer.retry} />;
    return (
        <>
            {answer.error !== null && <Failed text={answer.error} retry={answer.retry} />}
            <Canvas
                box={box}
                size={size}
                class="timeline-scroll"
                canvasClass="timeline-canvas"
                style={{ width: px(size.width), height: px(size.height) }}
                label={`Calls of ${shown.before.id} of ${shown.before.of.run.run} above those of ${shown.after.id} of ${shown.after.of.run.run}, from ${moment(window[0])} to ${moment(window[1])} after the start of each`}
                isBusy={answer.isLoading || trees.isLoading}
                of={[
                    window.join(),
                    scroll,
                    of,
                    blocks,
                    arrows,
                    known,
                    chosen,
                    pointed,
                    palette,
                ]}
                draw={(pen) => drawTimeline(pen, scene)}
                says={(point) => {
                    const i = find(point);
                    if (i < 0) return null;
                    return (
                        <CallWords
                            known={known}
                            i={i}
                            name={nameOf(of.calls.region[i])}
                            means={means}
                        />
                    );
                }}
                hover={setPointer}
                choose={choose}
                open={(point) => {
                    const i = find(point);
                    if (i >= 0) axis.zoomTo(of.calls.begin_ns[i], of.calls.end_ns[i]);
                }}
                drag={(from) => (from.x < left ? null : axis.drag(from))}
                mover={axis.mover}
                movable={movablePair}
                keys={keys}
                role="application"
                name="Calls of both over time"
                scroll={scroll}
                onScroll={setScroll}
            >
                <div
                    class="timeline-height"
                    style={{
                        height: px(Math.max(0, heightOf(blocks) + axisHeight - size.height)),
                    }}
                />
                {blocks.map(({ location, top }) => {
                    const { side, name } = laneAt(location);
                    return (
                        <span
                            key={location}
                            class={`rank-name side-${side}`}
                            style={{ top: px(axisHeight + top), width: px(left - 8) }}
                        >
                            <i class="dot" aria-hidden="true" />
                            {name}
                        </span>
                    );
                })}
                {timeAt !== null && (
                    <Cursor x={toX(plain, timeAt)} says={moment(timeAt)} px={px} />
                )}
            </Canvas>
            <p class="legend pair-chosen" aria-live="polite">
                {chosen === null ? (
                    <span class="dim">Click a call to choose its path, here and above.</span>
                ) : (
                    <>
                        <code>{chosen}</code>{" "}
                        {own
                            ? timesOf(own)
                            : trees.isLoading
                              ? "..."
                              : "is in neither of these two"}
                    </>
                )}
            </p>
        </>
    );
}
