// The call that was clicked at: what it is, why it is strange, what it called, and what happened
// around it, from its record in the store. While there is none, the strangest one is offered.
import { useEffect } from "preact/hooks";
import { ApiError, getJson } from "../api/http";
import { LiveRecord, RecordItem, RecordPage } from "../api/live_types";
import { executionId } from "../format/ids";
import { whyOf } from "../format/record_words";
import { formatScore, formatTime } from "../format/units";
import { funcOf, isOver, looked, lookAtRecord, shortName, shown, status } from "../state/live";
import { Looked } from "../state/live_call";
import { liveKeys, stepRecord } from "../state/live_keys";
import { useQuery } from "../state/query";
import { LivePanel } from "./live_panel";
import { LiveStructure } from "./live_structure";
import { LiveTimeline } from "./live_timeline";
import { Await, Empty, Loading } from "./panel";

/* The record of a point: by the number of an execution, or by when a call was entered. */
async function idOf(of: Looked, abort: AbortSignal): Promise<number | null> {
    const collection = of.isAnomaly ? "anomalies" : "normalexecs";
    const which =
        of.kind === 1
            ? `kind=executions&region=${of.region}&index=${of.index}`
            : `enter=${of.enter_ns}`;
    const page = await getJson<RecordPage>(
        `/live/records?collection=${collection}&rank=${of.rank}&program=${of.program}` +
            `&thread=${of.thread}&${which}&limit=10`,
        abort,
    );
    const isIt = (item: RecordItem) =>
        item.enter_ns === of.enter_ns && item.inclusive_ns === of.duration_ns;
    return page.items.find(isIt)?.id ?? null;
}

/* Of a call without a record: as long as its step is kept. */
function recent(of: Looked, abort: AbortSignal): Promise<LiveRecord | "none"> {
    const asked = getJson<LiveRecord>(
        `/live/call?program=${of.program}&rank=${of.rank}&thread=${of.thread}` +
            `&region=${of.region}&enter=${of.enter_ns}`,
        abort,
    );
    return asked.catch((error) => {
        if (error instanceof ApiError && error.status === 404) return "none";
        throw error;
    });
}

async function load(
    of: Looked,
    hasStore: boolean,
    abort: AbortSignal,
): Promise<LiveRecord | "none"> {
    const id = of.record ?? (hasStore ? await idOf(of, abort) : null);
    return id === null ? recent(of, abort) : getJson<LiveRecord>(`/live/record/${id}`, abort);
}

function WhyOf({ of }: { of: LiveRecord }) {
    if (of.collection === "recent") {
        const took = formatTime(of.record.runtime_exclusive * 1000);
        return (
            <p class="why">
                {shortName(of.record.func)} itself took {took}. There is no record of it: this
                is what is kept of the last steps.
            </p>
        );
    }
    const isAnomaly = of.collection === "anomalies";
    const isInclusive = status.value?.is_inclusive ?? false;
    const { what, reason, more, cause } = whyOf(
        of.record,
        { isAnomaly, isInclusive },
        shortName,
    );
    return (
        <div class="live-why">
            <p class="why">{what}</p>
            {reason && <p>{reason}</p>}
            {cause.length > 0 && (
                <ol class="cause" aria-label="What it waited for">
                    {cause.map((text) => (
                        <li>{text}</li>
                    ))}
                </ol>
            )}
            {more.map((text) => (
                <p>{text}</p>
            ))}
        </div>
    );
}

/* The one thing to do first. */
function Strangest() {
    const page = useQuery(
        status.value?.store ? "strangest" : null,
        (abort) => getJson<RecordPage>("/live/records?order=severity&limit=1", abort),
        `${shown.value} ${isOver.value}`,
        true,
    );
    const first = page.value?.items[0];
    if (page.isLoading && !page.value) return <Loading what="the strangest call" />;
    if (!first)
        return (
            <Empty>
                {status.value?.anomalies === 0 && "Nothing strange so far. "}
                {status.value?.store
                    ? "Click at a point to see the call, its structure and what happened around it."
                    : "Click at a point to see the call. No more is known of it: there is no store."}
            </Empty>
        );
    return (
        <div class="live-first">
            <span>
                Lost most so far: <b>{shortName(first.func)}</b> on rank {first.rank}, at{" "}
                {formatTime(first.enter_ns)}: <b>{formatTime(first.severity_ns)}</b>
            </span>
            <button class="primary" onClick={() => lookAtRecord(first)}>
                Show why
            </button>
            <span class="dim">or click at a point, or at a record</span>
        </div>
    );
}

function Facts({ of }: { of: Looked }) {
    return (
        <div class={`live-facts ${of.isAnomaly ? "anomaly" : "normal"}`}>
            <h3>
                {funcOf(of)}
                {of.kind === 1 &&
                    of.index !== null &&
                    ` ${executionId(of.rank, of.thread, of.index)}`}{" "}
                <span class="verdict">
                    {of.isAnomaly ? "▲ anomaly" : of.isJudged ? "normal" : "not judged"}
                </span>
            </h3>
            <span>
                rank {of.rank}, thread {of.thread}
            </span>
            <span>
                <b>{formatTime(of.duration_ns)}</b>, own time {formatTime(of.exclusive_ns)}
            </span>
            <span>at {formatTime(of.enter_ns)}</span>
            {of.score !== null && <span>score {formatScore(of.score)}</span>}
        </div>
    );
}

export function LiveLooked() {
    const of = looked.value;
    const hasStore = status.value?.store !== null;
    /* A record may be stored a little later than it is shown. */
    const record = useQuery(
        of ? `${of.record} ${of.rank} ${of.thread} ${of.enter_ns} ${of.duration_ns}` : null,
        (abort) => load(of!, hasStore, abort),
        String(isOver.value),
    );
    useEffect(() => {
        if (of) document.querySelector(".live-looked")?.scrollIntoView({ block: "nearest" });
    }, [of, record.value]);
    if (!of)
        return (
            <LivePanel name="looked" title="Call">
                <Strangest />
            </LivePanel>
        );
    return (
        <LivePanel
            name="looked"
            title="Call"
            tools={
                <>
                    {hasStore && (
                        <>
                            <button
                                aria-label="Record before"
                                title={`Record before (${liveKeys.keyOf("before")})`}
                                onClick={() => stepRecord(-1)}
                            >
                                <span aria-hidden="true">↑</span>
                            </button>
                            <button
                                title={`Next record (${liveKeys.keyOf("next")})`}
                                onClick={() => stepRecord(1)}
                            >
                                <span aria-hidden="true">↓</span> Next{" "}
                                <kbd aria-hidden="true">J</kbd>
                            </button>
                        </>
                    )}
                    <button
                        class="quiet"
                        aria-label="Close the call"
                        title="Close (Esc)"
                        onClick={() => (looked.value = null)}
                    >
                        ✕
                    </button>
                </>
            }
        >
            <Facts of={of} />
            <Await of={record} what="the record" empty="There is no record.">
                {(value) =>
                    value === "none" ? (
                        <Empty>
                            There is no record of it, and its step is not kept (any more).
                            <button onClick={record.retry}>Look again</button>
                        </Empty>
                    ) : (
                        <div class="live-record">
                            <WhyOf of={value} />
                            <LiveStructure of={value} />
                            <LiveTimeline of={value} />
                            <details class="live-all">
                                <summary>All of the record</summary>
                                <pre tabIndex={0}>{JSON.stringify(value.record, null, 1)}</pre>
                            </details>
                        </div>
                    )
                }
            </Await>
        </LivePanel>
    );
}
