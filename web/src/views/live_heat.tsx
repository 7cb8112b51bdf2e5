// The whole history as a heat map, rank x time. A click asks for the records of that rank then.
import { useEffect, useRef, useState } from "preact/hooks";
import { getBundle } from "../api/http";
import { cellAt, Heat, heatPixels } from "../canvas/heat";
import { formatCount, formatTime } from "../format/units";
import { planeChosen, rankChosen, shown } from "../state/live";
import { askRecords } from "../state/live_records";
import { useResource } from "../state/resource";
import { Choice, LivePanel } from "./live_panel";
import { Await } from "./panel";

interface HeatMap extends Heat {
    rank: Uint32Array;
    begin_ns: number;
    bin_ns: number;
}

async function load(what: string, abort: AbortSignal): Promise<HeatMap> {
    const { header, columns } = await getBundle(`/live/heatmap?what=${what}&width=512`, abort);
    return { ...header, ...columns } as unknown as HeatMap;
}

const isTime = () => planeChosen.value.endsWith("_ns");
const textOf = (value: number) => (isTime() ? formatTime(value) : formatCount(value));

function Picture({ heat }: { heat: HeatMap }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [at, setAt] = useState<{ row: number; column: number } | null>(null);
    const pixels = heatPixels(heat);
    useEffect(() => {
        const picture = canvas.current!;
        picture.width = Math.max(1, heat.width);
        picture.height = Math.max(1, heat.rows);
        if (heat.width && heat.rows) {
            const image = new ImageData(heat.width, heat.rows);
            image.data.set(pixels.rgba);
            picture.getContext("2d")!.putImageData(image, 0, 0);
        }
    }, [heat]);
    const find = (event: MouseEvent) => {
        const frame = canvas.current!.getBoundingClientRect();
        return cellAt(
            heat,
            (event.clientX - frame.left) / frame.width,
            (event.clientY - frame.top) / frame.height,
        );
    };
    const timeOf = (column: number) => heat.begin_ns + column * heat.bin_ns;
    const click = (event: MouseEvent) => {
        const cell = find(event);
        if (!cell) return;
        rankChosen.value = heat.rank[cell.row];
        askRecords({
            rank: heat.rank[cell.row],
            from: timeOf(cell.column),
            to: timeOf(cell.column + 1) - 1,
        });
    };
    return (
        <>
            <canvas
                ref={canvas}
                class="heat"
                role="img"
                aria-label={`History of ${heat.rows} ranks; the table of ranks has the same as numbers`}
                onPointerMove={(event) => setAt(find(event))}
                onPointerLeave={() => setAt(null)}
                onClick={click}
            />
            <p class="dim live-note">
                {at && at.row < heat.rows
                    ? `rank ${heat.rank[at.row]}, ${formatTime(timeOf(at.column))}: ${textOf(heat.value[at.row * heat.width + at.column])}`
                    : `${formatTime(heat.begin_ns)} to ${formatTime(timeOf(heat.width))}; at most ${textOf(pixels.highest)} in ${formatTime(heat.bin_ns)} of a rank`}
            </p>
        </>
    );
}

export function LiveHeat() {
    const what = planeChosen.value;
    const heat = useResource(`heat ${what} ${shown.value}`, (abort) => load(what, abort), true);
    return (
        <LivePanel
            name="heat"
            title="History"
            tools={
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
            }
        >
            <Await of={heat} what="the history" empty="There is nothing yet.">
                {(value) => <Picture heat={value} />}
            </Await>
        </LivePanel>
    );
}
