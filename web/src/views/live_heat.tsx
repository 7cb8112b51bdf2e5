// The whole history as a heat map, rank x time. A click chooses a rank then, a drag a stretch of
// time of all ranks: points and records are those of it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getBundle } from "../api/http";
import { cellAt, Heat, heatPixels, spanOfDrag } from "../canvas/heat";
import { css, hotColour, scaleColour } from "../format/colour";
import { formatCount, formatTime } from "../format/units";
import {
    chooseSpan,
    planeChosen,
    rankChosen,
    shown,
    spanChosen,
    toggleRank,
} from "../state/live";
import { useQuery } from "../state/query";
import { Choice, LivePanel } from "./live_panel";
import { Await, Empty } from "./panel";

interface HeatMap extends Heat {
    rank: Uint32Array;
    begin_ns: number;
    bin_ns: number;
}

const leastDrag = 4; /* pixels: less is a click */
const most = 1000; /* the frame of the picture, in its own units */
const steps = [0, 0.25, 0.5, 0.75, 1];

async function load(what: string, abort: AbortSignal): Promise<HeatMap> {
    const { header, columns } = await getBundle(`/live/heatmap?what=${what}&width=512`, abort);
    return { ...header, ...columns } as unknown as HeatMap;
}

const isTime = () => planeChosen.value.endsWith("_ns");
const isCount = () => planeChosen.value === "calls" || planeChosen.value === "exclusive_ns";
const colourOf = () =>
    isCount() ? scaleColour : hotColour; /* strange things have their own */
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
    const canvas = useRef<HTMLCanvasElement>(null);
    const [at, setAt] = useState<{ row: number; column: number } | null>(null);
    const from = useRef<{ x: number; share: number } | null>(null);
    const [drag, setDrag] = useState<[number, number] | null>(null);
    const pixels = useMemo(() => heatPixels(heat, colourOf()), [heat]);
    useEffect(() => {
        const picture = canvas.current!;
        picture.width = Math.max(1, heat.width);
        picture.height = Math.max(1, heat.rows);
        const image = new ImageData(heat.width, heat.rows);
        image.data.set(pixels.rgba);
        picture.getContext("2d")!.putImageData(image, 0, 0);
    }, [heat]);
    const place = (event: MouseEvent): [number, number] => {
        const frame = canvas.current!.getBoundingClientRect();
        return [
            (event.clientX - frame.left) / frame.width,
            (event.clientY - frame.top) / frame.height,
        ];
    };
    const timeOf = (column: number) => heat.begin_ns + column * heat.bin_ns;
    const down = (event: PointerEvent) => {
        canvas.current!.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, share: place(event)[0] };
    };
    const move = (event: PointerEvent) => {
        const [x, y] = place(event);
        setAt(cellAt(heat, x, y));
        const start = from.current;
        if (!start || (!drag && Math.abs(event.clientX - start.x) < leastDrag)) return;
        setDrag(spanOfDrag(heat, start.share, x));
    };
    const up = (event: PointerEvent) => {
        if (drag) chooseSpan(drag);
        else if (from.current) {
            const cell = cellAt(heat, ...place(event));
            if (cell) toggleRank(heat.rank[cell.row]);
        }
        from.current = null;
        setDrag(null);
    };
    const cell = at && at.row < heat.rows && at.column < heat.width ? at : null;
    return (
        <>
            <div class="heat-frame">
                <span class="heat-ranks dim" aria-hidden="true">
                    <span>rank {heat.rank[0]}</span>
                    {heat.rows > 1 && <span>{heat.rank[heat.rows - 1]}</span>}
                </span>
                <div class="heat-picture">
                    <canvas
                        ref={canvas}
                        class="heat"
                        role="img"
                        aria-label={`History of ${heat.rows} ranks; the table of ranks has the same as numbers`}
                        onPointerDown={down}
                        onPointerMove={move}
                        onPointerUp={up}
                        onPointerLeave={() => setAt(null)}
                    />
                    <Chosen heat={heat} drag={drag} />
                </div>
            </div>
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
                                        fill={css(colourOf()(x))}
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
                        options={[
                            ["anomalies", "anomalies"],
                            ["severity_ns", "time lost"],
                            ["calls", "calls"],
                            ["exclusive_ns", "time"],
                        ]}
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
