// The line at the top of the live page: totals, rate, what was lost, pause.
import { isOnline } from "../api/http";
import { LiveStatus } from "../api/live_types";
import {
    formatBytes,
    formatCount,
    formatMoment,
    formatTime,
    plural,
    sentence,
} from "../format/units";
import { liveKeys } from "../state/live_keys";
import {
    chooseAll,
    chooseSpan,
    isChosen,
    isOver,
    isPaused,
    liveError,
    nameOfRegion,
    newest,
    rankChosen,
    regionChosen,
    shown,
    spanChosen,
    status,
    toggleRank,
    toggleRegion,
} from "../state/live";
import { isHelpOpen } from "../state/overlays";
import { run } from "../state/store";

const states: Record<LiveStatus["state"], string> = {
    waiting: "waiting for the program",
    running: "running",
    over: "over",
    failed: "failed",
};

const loops: Record<NonNullable<LiveStatus["loop"]>, string> = {
    sought: "; looking for the loop",
    followed: "",
    not_found: "; no loop was found",
};

/* What was lost, damaged or not stored. */
export function LiveTrouble() {
    const now = status.value!;
    const { store } = now;
    const said = [
        now.lost_events && `${plural(now.lost_events, "event")} lost`,
        store && store.dropped > 0 && `${plural(store.dropped, "record")} not stored`,
        store &&
            store.removed > 0 &&
            `the store is full: ${plural(store.removed, "record")}, of what lost least, removed for others`,
        store?.is_failing && `the store cannot be written: ${store.error}`,
        ...now.quality
            .filter((q) => q.is_damage)
            .map((q) => `${formatCount(q.count)} ${q.text}`),
        now.message,
        isOnline.value && liveError.value,
    ].filter((text): text is string => Boolean(text));
    return said.length ? (
        <div class="offline live-trouble" role="alert">
            {sentence(said.join("; "))}
        </div>
    ) : null;
}

/* Bytes of the trace against those of the store. */
function Reduction({ of }: { of: LiveStatus["reduction"] }) {
    const { trace_bytes: read, stored_bytes: stored, reduction: factor } = of;
    const where = of.stored_is === "sent" ? "sent to the database" : "stored";
    return (
        <span
            class="live-reduction"
            title={
                of.reduction_unknown
                    ? `Not known, because ${of.reduction_unknown}`
                    : `${formatBytes(read!)} of trace read, ${formatBytes(stored!)} ${where}`
            }
        >
            {factor === null
                ? `, ${stored ? formatBytes(stored) : "nothing new"}; how much less than the trace is not known`
                : `, ${Number((factor < 1 ? 1 / factor : factor).toPrecision(3))} times ${factor < 1 ? "more" : "less"} than was read`}
        </span>
    );
}

/* What an instance that was killed had read last, the server was told, and the store was not; and what was told last
   is published a little later. */
function Differing({ now }: { now: LiveStatus }) {
    const [stored, told] = [now.store?.calls ?? null, now.server_calls];
    if (stored === null || told === null || stored === told || !isOver.value) return null;
    return (
        <span
            class="live-differing"
            title="Instances tell the server in each step, which publishes about once a second; and they store their statistics about once a second: what one that was killed has read last is not in the store. What the server is not told of in the end, it has missed."
        >
            , {plural(told, "call")} published by the server, {formatCount(stored)} in the
            statistics of the store
        </span>
    );
}

function furtherFacts(now: LiveStatus): string[] {
    const facts = now.steps === null ? [] : [plural(now.steps, "step"), formatTime(now.end_ns)];
    if (now.events_per_s !== null && !isOver.value)
        facts.push(`${formatCount(now.events_per_s)} events/s`);
    if (now.lag_ns !== null && !isOver.value) facts.push(`${formatTime(now.lag_ns)} behind`);
    if (now.store) facts.push(`${plural(now.store.stored, "record")} stored`);
    return facts;
}

/* How many there were is not known of a store, which has the strange ones. */
const executionsText = ({ total, anomalies }: NonNullable<LiveStatus["executions"]>) =>
    total === null
        ? `; ${plural(anomalies, "strange execution")}`
        : `; ${plural(total, "execution")}`;

export function LiveHead() {
    const now = status.value!;
    return (
        <header class="top live-head">
            <h1 class="visually-hidden">Live: {run.value?.name}</h1>
            <b class="brand">snag</b>
            <span class="run-name" title={now.source}>
                {run.value?.name}
            </span>
            <span class={`live-state ${now.state}`}>
                {now.run > 1 && `run ${now.run}: `}
                {states[now.state]}
            </span>
            <span class="headline">
                <b class="live-anomalies">{plural(now.anomalies, "anomaly", "anomalies")}</b> in{" "}
                <span class="live-calls">
                    {now.calls === null ? "calls" : plural(now.calls, "call")}
                </span>{" "}
                of {plural(now.ranks, "rank")}
                {now.severity_ns !== null && `, ${formatTime(now.severity_ns)} lost`}
                {now.taken_back > 0 && `; ${formatCount(now.taken_back)} more taken back`}
                {now.executions && executionsText(now.executions)}
                {now.loop && <span class="live-loop">{loops[now.loop]}</span>}
            </span>
            <span class="dim">
                {furtherFacts(now).join(", ")}
                {now.store && <Reduction of={now.reduction} />}
                <Differing now={now} />
            </span>
            <span class="actions">
                {isPaused.value && newest.value !== shown.value && (
                    <span class="dim">there is more</span>
                )}
                <button
                    aria-pressed={isPaused.value}
                    onClick={() => (isPaused.value = !isPaused.value)}
                    title={`What is shown stays as it is; the program and the search go on (${liveKeys.keyOf("pause")})`}
                >
                    {isPaused.value ? "Resume" : "Pause"}
                </button>
                <button
                    aria-label="Help"
                    title={`Help (${liveKeys.keyOf("help")})`}
                    onClick={() => (isHelpOpen.value = true)}
                >
                    ?
                </button>
            </span>
        </header>
    );
}

function Chip(props: { text: string; leave: () => void }) {
    return (
        <button class="chip" aria-label={`Not only ${props.text}`} onClick={props.leave}>
            {props.text} <span aria-hidden="true">✕</span>
        </button>
    );
}

/* What points and records are limited to; nothing where they are not. */
export function LiveChosen() {
    if (!isChosen.value) return null;
    const [region, rank, span] = [regionChosen.value, rankChosen.value, spanChosen.value];
    return (
        <div class="live-chosen" role="group" aria-label="What is chosen">
            <span class="dim">Points and records only of</span>
            {region !== null && (
                <Chip text={nameOfRegion(region)} leave={() => toggleRegion(region)} />
            )}
            {rank !== null && <Chip text={`rank ${rank}`} leave={() => toggleRank(rank)} />}
            {span && <Chip text={spanText(span)} leave={() => chooseSpan(null)} />}
            <button class="quiet" onClick={chooseAll} title="Esc">
                Show all
            </button>
        </div>
    );
}

function spanText([from, to]: [number, number]): string {
    const step = (to - from) / 100;
    return to < 1e18
        ? `${formatMoment(from, step)} to ${formatMoment(to, step)}`
        : `from ${formatTime(from)}`;
}
