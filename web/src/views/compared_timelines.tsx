// An execution of the run before above one of the run after, from the start of each, at one scale of time: which two, of
// which lanes, and what is known of them.
import { useEffect, useRef, useState } from "preact/hooks";
import { ComparisonTree, Pair } from "../api/compare_types";
import { nearestOf, Pairing, printPlace, readPlace } from "../canvas/compared_pairs";
import { Side, sides } from "../canvas/difference";
import { changeOf, formatChange } from "../format/change";
import { css } from "../format/colour";
import { unknownColour } from "../format/palette";
import { formatExcess, formatTime } from "../format/units";
import { comparedKeys } from "../state/compared_keys";
import { rowsQuery } from "../state/compared_load";
import {
    choosePair,
    factsQuery,
    indexes,
    lanesBy,
    lanesSaid,
    lanesWidth,
    mostCompared,
    movablePair,
    pairBy,
    pairedRuns,
    pairNow,
    problem,
    roomAsked,
    ShownSide,
    shownPair,
    sidesNow,
    stepNumber,
    treesQuery,
    windowOfPair,
} from "../state/compared_timelines";
import { readLanes } from "../state/lanes";
import { offerMovable, offerTimeline, pointAt } from "../state/movable";
import { executionLink } from "./compared_executions";
import { left, PairCanvas } from "./compared_lanes";
import { changeKeys } from "./compared_icicle";
import { RunsStrip } from "./compared_strip";
import { PictureButtons } from "./export";
import { Legend, LegendKeys } from "./legend";
import { Choice, LivePanel } from "./live_panel";
import { Await, Empty, Failed, Loading } from "./panel";
import { ZoomButtons } from "./timeline_tools";
import { useSize } from "./use_size";

const pairingNames: [Pairing, string][] = [
    ["same", "same rank and number"],
    ["longest", "the longest of each"],
    ["typical", "typical ones of each"],
];

/* Where a side has several. */
function RunChoice({ side }: { side: Side }) {
    const runs = pairedRuns.value[side];
    const now = shownPair.value?.[side];
    if (runs.length < 2 || !now) return null;
    return (
        <Choice
            label={`Run ${side}`}
            value={String(now.room)}
            options={runs.map(({ room, run }): [string, string] => [String(room), run.run])}
            choose={(room) => (roomAsked[side].value = Number(room))}
        />
    );
}

/* Taken when it is what it should be. */
function Field(props: {
    label: string;
    title?: string;
    value: string;
    take: (said: string) => boolean;
    isNumber?: boolean;
}) {
    const { label, value, take } = props;
    const [text, setText] = useState(value);
    const [isWrong, setWrong] = useState(false);
    useEffect(() => {
        setText(value);
        setWrong(false);
    }, [value]);
    return (
        <label title={props.title}>
            {label}{" "}
            <input
                class="short"
                type="text"
                inputMode={props.isNumber ? "numeric" : undefined}
                value={text}
                aria-invalid={isWrong}
                onInput={(e) => setText(e.currentTarget.value)}
                onChange={(e) => setWrong(!take(e.currentTarget.value))}
            />
        </label>
    );
}

function PairChoice() {
    const pair = pairNow.value;
    if (!pair) return null;
    const first = pair.by === "same" ? 0 : 1; /* numbers count from 0, places from 1 */
    return (
        <>
            <Choice
                label="Which executions"
                title={`Which execution of the one run is beside which of the other (${comparedKeys.keyOf("pairing")})`}
                value={pair.by}
                options={pairingNames}
                choose={pairBy}
            />
            {pair.by === "same" && (
                <Field
                    label="rank"
                    title={`The rank, or 3.1 for a thread (${comparedKeys.keyOf("rankBefore")} and ${comparedKeys.keyOf("rankAfter")})`}
                    value={printPlace(pair)}
                    take={(said) => {
                        const place = readPlace(said);
                        const of = indexes.value!;
                        if (place) choosePair(nearestOf({ ...pair, ...place }, of));
                        return place !== null;
                    }}
                />
            )}
            <span class="steps">
                <button
                    aria-label="The execution before"
                    title={`The execution before, of both (${comparedKeys.keyOf("numberBefore")})`}
                    onClick={() => stepNumber(-1)}
                >
                    ‹
                </button>
                <Field
                    label={pair.by === "same" ? "number" : "place"}
                    isNumber
                    value={String(pair.number + first)}
                    take={(said) => {
                        const isOne = /^\s*\d{1,9}\s*$/.test(said) && Number(said) >= first;
                        if (isOne) choosePair({ ...pair, number: Number(said) - first });
                        return isOne;
                    }}
                />
                <button
                    aria-label="The execution after"
                    title={`The execution after, of both (${comparedKeys.keyOf("numberAfter")})`}
                    onClick={() => stepNumber(1)}
                >
                    ›
                </button>
            </span>
        </>
    );
}

function LaneChoice({ now }: { now: Record<Side, ShownSide> }) {
    const [text, setText] = useState(lanesSaid.value ?? "");
    useEffect(() => setText(lanesSaid.value ?? ""), [lanesSaid.value]);
    const facts = factsQuery.answer.value.value;
    const isThere = (said: string) =>
        sides.some((side) => readLanes(said, facts?.[side].run.locations ?? []) !== null);
    const isWrong = text.trim() !== "" && !isThere(text);
    const take = (said: string) => {
        setText(said);
        if (!said.trim()) lanesSaid.value = null;
        else if (isThere(said)) lanesSaid.value = said;
    };
    const most = Math.max(...sides.map((side) => now[side].lanes.length));
    return (
        <details class="menu ranks">
            <summary>{most === 1 ? "1 lane" : `${most} lanes`} of each</summary>
            <div>
                <label>
                    Also ranks, as 0-3, 7, 12.2 (a thread), 9.* (all of them)
                    <input
                        type="text"
                        value={text}
                        aria-invalid={isWrong}
                        onInput={(e) => take(e.currentTarget.value)}
                    />
                </label>
                {isWrong && <p role="alert">There are no such ranks.</p>}
                <label>
                    Lanes ({comparedKeys.keyOf("lanesBy")})
                    <Choice
                        value={lanesBy.value}
                        options={[
                            ["run", "before above after"],
                            ["rank", "rank by rank"],
                        ]}
                        choose={(by) => (lanesBy.value = by)}
                    />
                </label>
                <p class="dim">{mostCompared} of each run at once.</p>
            </div>
        </details>
    );
}

function SideName({ side, of }: { side: Side; of: ShownSide }) {
    return (
        <span class={`side-${side}`}>
            <i class="dot" aria-hidden="true" />
            {side}{" "}
            <a
                href={executionLink(of.of.run.page!, of.row, null)}
                title={`On the page of ${of.of.run.run}`}
            >
                {of.id} of {of.of.run.run}
            </a>{" "}
            {formatTime(of.duration_ns)}
        </span>
    );
}

function changeWords([before, after]: Pair): string {
    return `${formatExcess(after - before)}, ${formatChange(changeOf(before, after))}`;
}

function PairHead({ now }: { now: Record<Side, ShownSide> }) {
    const times: Pair = [now.before.duration_ns, now.after.duration_ns];
    return (
        <p class="legend pair-head">
            {sides.map((side) => (
                <SideName key={side} side={side} of={now[side]} />
            ))}
            <b>{changeWords(times)}</b>
        </p>
    );
}

function Colours() {
    const trees = treesQuery.answer.value;
    if (trees.error !== null)
        return (
            <p class="legend" role="alert">
                What call paths took is not known: {trees.error}.{" "}
                <button onClick={trees.retry}>Try again</button>
            </p>
        );
    return (
        <Legend of="calls">
            <span>time on the call path, in these two executions:</span>
            <LegendKeys keys={changeKeys()} />
            <span>
                <svg viewBox="0 0 2 1" aria-hidden="true">
                    <rect class="missing-key" x=".1" y=".1" width="1.8" height=".8" />
                </svg>{" "}
                the other has no such path
            </span>
            <LegendKeys keys={[{ colour: css(unknownColour), text: "not compared" }]} />
        </Legend>
    );
}

/* Where one of the runs has no such execution. */
function Lacking({ text }: { text: string }) {
    const [pair, of] = [pairNow.value, indexes.value];
    const near = pair && of && nearestOf(pair, of);
    return (
        <Empty>
            <p>{text}</p>
            {near && near.by === "same" && near.number !== pair!.number && (
                <button onClick={() => choosePair(near)}>
                    Number {near.number}, which both have
                </button>
            )}
        </Empty>
    );
}

function Shown({ tree }: { tree: ComparisonTree }) {
    const rows = rowsQuery.answer.value;
    const facts = factsQuery.answer.value;
    const [now, window] = [sidesNow.value, windowOfPair.value];
    if (problem.value !== null) return <Lacking text={problem.value} />;
    if (rows.error !== null) return <Failed text={rows.error} retry={rows.retry} />;
    if (rows.isLoading) return <Loading what="the executions" />;
    return (
        <Await of={facts} what="the runs" empty="">
            {() =>
                now && window ? (
                    <>
                        <PairHead now={now} />
                        <RunsStrip now={now} window={window} />
                        <PairCanvas now={now} window={window} tree={tree} />
                        <Colours />
                    </>
                ) : (
                    <Loading what="the executions" />
                )
            }
        </Await>
    );
}

export function TimelinesView({ tree }: { tree: ComparisonTree }) {
    const body = useRef<HTMLDivElement>(null);
    const { width } = useSize(body);
    useEffect(() => {
        lanesWidth.value = Math.max(0, width - left);
    }, [width]);
    useEffect(() => {
        const taken = [offerMovable(movablePair), offerTimeline(movablePair)];
        return () => {
            taken.forEach((leave) => leave());
            lanesWidth.value = 0;
        };
    }, []);
    const now = sidesNow.value;
    return (
        <LivePanel
            name="timelines"
            title="Both timelines"
            tools={
                <>
                    {sides.map((side) => (
                        <RunChoice key={side} side={side} />
                    ))}
                    <PairChoice />
                    {now && <LaneChoice now={now} />}
                    <ZoomButtons
                        {...movablePair}
                        fits={`Both executions, or both runs (${comparedKeys.keyOf("fit")})`}
                    />
                    <PictureButtons name="timelines" title="Both timelines" />
                </>
            }
        >
            <div class="timeline" ref={body} onPointerMove={() => pointAt(movablePair)}>
                <Shown tree={tree} />
            </div>
        </LivePanel>
    );
}
