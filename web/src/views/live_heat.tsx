// The whole history as a heat map, rank x time. A click chooses a rank then, a drag a stretch of
// time of all ranks: points and records are those of it.
import { useMemo, useState } from "preact/hooks";
import { getBundle } from "../api/http";
import { Cell, Heat, heatPixels, spanOfDrag } from "../canvas/heat";
import { countColour, css, hotColour } from "../format/colour";
import { formatCount, formatTime } from "../format/units";
import {
    chooseSpan,
    planeChosen,
    planes,
    rankChosen,
    shown,
    spanChosen,
    status,
    toggleRank,
} from "../state/live";
import { useQuery } from "../state/query";
import { theme } from "../state/store";
import { Point } from "./canvas";
import { HeatPicture } from "./heat_picture";
import { Choice, LivePanel } from "./live_panel";
import { Await, Empty } from "./panel";

interface HeatMap extends Heat {
    rank: Uint32Array;
    begin_ns: number;
    bin_ns: number;
}

const most = 1000; /* the frame of the picture, in its own units */
const steps = [0, 0.25, 0.5, 0.75, 1];

async function load(what: string, abort: AbortSignal): Promise<HeatMap> {
    const { header, columns } = await getBundle(`/live/heatmap?what=${what}&width=512`, abort);
    return { ...header, ...columns } as unknown as HeatMap;
}

const isTime = () => planeChosen.value.endsWith("_ns");
const isCount = (plane: string) => plane === "calls" || plane === "exclusive_ns";
const titles: [(typeof planes)[number], string][] = [
    ["anomalies", "anomalies"],
    ["severity_ns", "time lost"],
    ["calls", "calls"],
    ["exclusive_ns", "time"],
];
/* Strange things have colours of their own. */
const colourOf = () => (x: number) =>
    (isCount(planeChosen.value) ? countColour : hotColour)(x, theme.value === "dark");
const textOf = (value: number) => (isTime() ? formatTime(value) : formatCount(value));

/* What is chosen, above the picture: a stretch of time, a rank. */
function Chosen({ heat, drag }: { heat: HeatMap; drag: [number, number] | null }) {
    const whole = heat.width * heat.bin_ns;
    const span = drag ?? spanChosen.value;
    const row = rankChosen.value === null ? -1 : heat.rank.indexOf(rankChosen.value);
    const at = (ns: number) => ((ns - heat.begin_ns) / whole) * most;
    return (
        <svg
            class="heat-chosen"
            viewBox={`0 0 ${most} ${most}`}
            preserveAspectRatio="none"
            aria-hidden="true"
        >
            {span && (
                <rect
                    x={at(span[0])}
                    width={Math.max(2, at(span[1]) - at(span[0]))}
                    y="0"
                    height={most}
                />
            )}
            {row >= 0 && (
                <rect
                    x="0"
                    width={most}
                    y={(row * most) / heat.rows}
                    height={most / heat.rows}
                />
            )}
        </svg>
    );
}

function Picture({ heat }: { heat: HeatMap }) {
    const [at, setAt] = useState<Cell | null>(null);
    const [drag, setDrag] = useState<[number, number] | null>(null);
    const pixels = useMemo(() => heatPixels(heat, colourOf()), [heat, theme.value]);
    const timeOf = (column: number) => heat.begin_ns + column * heat.bin_ns;
    const dragFrom = (from: Point) => {
        let span: [number, number] | null = null;
        return {
            to: (now: Point) => setDrag((span = spanOfDrag(heat, from.x, now.x))),
            end: () => {
                setDrag(null);
                chooseSpan(span);
            },
        };
    };
    const cell = at && at.row < heat.rows && at.column < heat.width ? at : null;
    return (
        <>
            <HeatPicture
                rows={heat.rows}
                columns={heat.width}
                of={[pixels]}
                rgba={() => pixels.rgba}
                ends={[`rank ${heat.rank[0]}`, `${heat.rank[heat.rows - 1]}`]}
                across={[timeOf(0), timeOf(heat.width)]}
                label={`History of ${heat.rows} ranks; the table of ranks has the same as numbers`}
                hover={setAt}
                choose={({ row }) => toggleRank(heat.rank[row])}
                drag={dragFrom}
            >
                <Chosen heat={heat} drag={drag} />
            </HeatPicture>
            <p class="dim live-note heat-note">
                <span>
                    {cell
                        ? `rank ${heat.rank[cell.row]}, ${formatTime(timeOf(cell.column))}: ${textOf(heat.value[cell.row * heat.width + cell.column])}`
                        : `${formatTime(heat.begin_ns)} to ${formatTime(timeOf(heat.width))} across; drag to choose a time, click to choose a rank`}
                </span>
                <span class="heat-key">
                    {pixels.highest > 0 ? (
                        <>
                            0{" "}
                            <svg
                                viewBox="0 0 5 1"
                                preserveAspectRatio="none"
                                aria-hidden="true"
                            >
                                {steps.map((x, i) => (
                                    <rect
                                        x={i}
                                        width="1"
                                        height="1"
                                        fill={
                                            x ? css(colourOf()(Math.sqrt(x))) : "var(--hover)"
                                        }
                                    />
                                ))}
                            </svg>{" "}
                            {textOf(pixels.highest)} in {formatTime(heat.bin_ns)}
                        </>
                    ) : (
                        "nothing of it so far"
                    )}
                </span>
            </p>
        </>
    );
}

export function LiveHeat() {
    const what = planeChosen.value;
    const heat = useQuery(`heat ${what}`, (abort) => load(what, abort), shown.value, true);
    return (
        <LivePanel
            name="heat"
            title="History"
            tools={
                <>
                    {spanChosen.value && (
                        <button onClick={() => chooseSpan(null)}>All of the time</button>
                    )}
                    <Choice
                        label="What the history shows"
                        value={what}
                        options={titles.filter(
                            /* When all calls were a store does not tell. */
                            ([plane]) => status.value?.steps !== null || !isCount(plane),
                        )}
                        choose={(v) => (planeChosen.value = v)}
                    />
                </>
            }
        >
            <Await of={heat} what="the history" empty="There is nothing yet.">
                {(value) =>
                    value.rows && value.width ? (
                        <Picture heat={value} />
                    ) : (
                        <Empty>There is nothing yet.</Empty>
                    )
                }
            </Await>
        </LivePanel>
    );
}
