// Above the timeline: which ranks it shows, and by what calls are coloured; below it, what colours mean.
import { useEffect, useState } from "preact/hooks";
import { Calls } from "../canvas/rows";
import { css } from "../format/colour";
import { kindColour, kindNames } from "../format/kind_colour";
import { plural } from "../format/units";
import { lanesBeside, mostLanes, printLanes, readLanes } from "../state/lanes";
import { callColours, run, shownRanks } from "../state/store";
import { kindsOf } from "./timeline_scene";

const beside = 2; /* ranks on either side */

export function RankChoice(props: { shown: number[]; own: number | null }) {
    const locations = run.value?.locations ?? [];
    const now = printLanes(props.shown, locations);
    const [text, setText] = useState(now);
    const [isWrong, setWrong] = useState(false);
    useEffect(() => setText(now), [now]);
    const take = (said: string) => {
        const lanes = readLanes(said, locations);
        setWrong(!lanes);
        if (lanes) shownRanks.value = lanes;
    };
    const around = () => {
        const lanes = props.own === null ? [] : lanesBeside(props.own, beside, locations);
        shownRanks.value = [...new Set([...lanes, ...props.shown])].sort((a, b) => a - b);
    };
    return (
        <details class="menu ranks">
            <summary>{plural(props.shown.length, "rank")} shown</summary>
            <div>
                <label>
                    Ranks, as 0-3, 7, 12.2 (a thread), 9.* (all of them)
                    <input
                        type="text"
                        value={text}
                        aria-invalid={isWrong}
                        onChange={(e) => take(e.currentTarget.value)}
                    />
                </label>
                {isWrong && <p role="alert">There are no such ranks.</p>}
                <button onClick={() => (shownRanks.value = null)}>
                    Only the ranks it exchanged messages with
                </button>
                {props.own !== null && (
                    <button onClick={around}>And {beside} ranks on either side</button>
                )}
                <p class="dim">
                    Of {plural(locations.length, "lane")}, {mostLanes} at once. Find (/) adds
                    one.
                </p>
            </div>
        </details>
    );
}

export function ColourChoice() {
    return (
        <label>
            <span class="visually-hidden">Colour calls by</span>
            <select
                value={callColours.value}
                title="By what calls are coloured"
                onChange={(e) =>
                    (callColours.value = e.currentTarget.value as "kind" | "function")
                }
            >
                <option value="kind">by kind</option>
                <option value="function">by function</option>
            </select>
        </label>
    );
}

export function TimelineLegend({ calls }: { calls: Calls }) {
    if (callColours.value !== "kind") return null;
    return (
        <p class="legend kinds-legend" aria-label="Colours of calls">
            {kindsOf(calls).map((kind) => (
                <span key={kind}>
                    <svg viewBox="0 0 2 1" aria-hidden="true">
                        {[0, 1].map((depth) => (
                            <rect
                                x={depth}
                                width="1"
                                height="1"
                                fill={css(kindColour(kind, "", depth))}
                            />
                        ))}
                    </svg>{" "}
                    {kindNames[kind]}
                </span>
            ))}
            <span>
                <span class="strange-key">1</span> what it goes back to, by number
            </span>
        </p>
    );
}
