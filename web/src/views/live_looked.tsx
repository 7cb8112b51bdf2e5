// The call that was clicked at: what it is, why it is strange, and what happened around it, from
// its record in the store.
import { getJson } from "../api/http";
import { Lane, LiveRecord, RecordPage } from "../api/live_types";
import { layLanes } from "../canvas/lanes";
import { css, regionColour } from "../format/colour";
import { formatScore, formatTime } from "../format/units";
import { isOver, looked, Looked, shortName, status } from "../state/live";
import { useResource } from "../state/resource";
import { LivePanel } from "./live_panel";
import { Await, Empty } from "./panel";

async function load(of: Looked, abort: AbortSignal): Promise<LiveRecord | "none"> {
    let id = of.record;
    if (id === null) {
        const collection = of.isAnomaly ? "anomalies" : "normalexecs";
        const page = await getJson<RecordPage>(
            `/live/records?collection=${collection}&rank=${of.rank}&program=${of.program}` +
                `&thread=${of.thread}&enter=${of.enter_ns}&limit=10`,
            abort,
        );
        id = page.items.find((item) => item.inclusive_ns === of.duration_ns)?.id ?? null;
    }
    return id === null ? "none" : getJson<LiveRecord>(`/live/record/${id}`, abort);
}

function Lanes({ lanes }: { lanes: Lane[] }) {
    const laid = layLanes(lanes);
    const row = 18;
    if (!laid.bars.length) return null;
    return (
        <svg
            class="lanes"
            viewBox={`0 0 1000 ${laid.rows * row}`}
            role="img"
            aria-label={`What happened around the call, ${formatTime(laid.end - laid.begin)}`}
        >
            {laid.titles.map((title) => (
                <text x="2" y={title.row * row + 13}>
                    {title.text}
                </text>
            ))}
            {laid.bars.map((bar) => (
                <g>
                    <title>{bar.name}</title>
                    <rect
                        class={bar.isThis ? "this" : bar.isAnomaly ? "strange" : ""}
                        x={bar.x * 1000}
                        y={bar.row * row + 1}
                        width={Math.max(1, bar.width * 1000)}
                        height={row - 2}
                        fill={css(regionColour(bar.name))}
                    />
                    {bar.width > 0.06 && (
                        <text class="on-bar" x={bar.x * 1000 + 3} y={bar.row * row + 13}>
                            {shortName(bar.name).slice(0, Math.floor(bar.width * 150))}
                        </text>
                    )}
                </g>
            ))}
            {laid.messages.map((m) => (
                <g>
                    <title>{m.text}</title>
                    <path
                        class={m.isSend ? "sent" : "received"}
                        d={`M${m.x * 1000} ${m.row * row + 16} l-4 -7 l8 0 z`}
                    />
                </g>
            ))}
        </svg>
    );
}

function Cause({ cause }: { cause: any[] | null }) {
    if (!cause?.length) return null;
    return (
        <ol class="live-cause">
            {cause.map((link) => (
                <li>
                    rank {link.rank}: {shortName(link.function)}, {formatTime(link.time_ns)}
                    {link.waits_for && `, waits: ${link.waits_for}`}
                </li>
            ))}
        </ol>
    );
}

function RecordView({ of }: { of: LiveRecord }) {
    const r = of.record;
    return (
        <>
            <p>
                {r.p !== null &&
                    `A normal call is as strange with p = ${Number(r.p).toPrecision(2)}. `}
                {of.collection === "anomalies" &&
                    `It lost ${formatTime(1000 * r.outlier_severity)}. `}
                {r.hostname && `On ${r.hostname}. `}
                {r.is_pruned && "By the final model it is normal. "}
                Called by{" "}
                {(r.call_stack ?? [])
                    .slice(1)
                    .map((c: { func: string }) => shortName(c.func))
                    .join(" ← ") || "nobody"}
                .
            </p>
            <Cause cause={r.cause} />
            <Lanes lanes={of.lanes} />
            <details>
                <summary>All of the record</summary>
                <pre>{JSON.stringify(r, null, 1)}</pre>
            </details>
        </>
    );
}

export function LiveLooked() {
    const of = looked.value;
    const hasStore = status.value?.store !== null;
    /* A record may be stored a little later than it is shown. */
    const record = useResource(
        of && hasStore
            ? `${of.record} ${of.rank} ${of.thread} ${of.enter_ns} ${of.duration_ns} ${isOver.value}`
            : null,
        (abort) => load(of!, abort),
    );
    return (
        <LivePanel name="looked" title="Call">
            {!of ? (
                <Empty>Click at a point, or at a record.</Empty>
            ) : (
                <div class="live-record">
                    <h3>
                        {of.func} on rank {of.rank}, thread {of.thread}
                    </h3>
                    <p>
                        {of.isAnomaly ? "Anomaly" : "Normal"}: took {formatTime(of.duration_ns)}
                        , {formatTime(of.exclusive_ns)} of it in itself, at{" "}
                        {formatTime(of.enter_ns)}; score {formatScore(of.score)}.
                    </p>
                    {hasStore && (
                        <Await of={record} what="the record" empty="There is no record.">
                            {(value) =>
                                value === "none" ? (
                                    <p class="dim">There is no record of it.</p>
                                ) : (
                                    <RecordView of={value} />
                                )
                            }
                        </Await>
                    )}
                </div>
            )}
        </LivePanel>
    );
}
