// The line at the top of the live page: totals, rate, what was lost, pause.
import { LiveStatus } from "../api/live_types";
import { formatCount, formatTime, plural } from "../format/units";
import { isOver, isPaused, liveError, newest, shown, status } from "../state/live";
import { run } from "../state/store";

const states: Record<LiveStatus["state"], string> = {
    waiting: "waiting for the program",
    running: "running",
    over: "over",
    failed: "failed",
};

function Trouble({ now }: { now: LiveStatus }) {
    const said = [
        now.lost_events > 0 && `${plural(now.lost_events, "event")} lost`,
        now.store &&
            now.store.dropped > 0 &&
            `${plural(now.store.dropped, "record")} not stored`,
        now.store?.is_failing && "the store cannot be written",
        ...now.quality
            .filter((q) => q.is_damage)
            .map((q) => `${formatCount(q.count)} ${q.text}`),
        now.message,
        liveError.value,
    ].filter(Boolean);
    return said.length ? (
        <span class="trouble" role="alert">
            {said.join("; ")}
        </span>
    ) : null;
}

export function LiveHead() {
    const now = status.value!;
    return (
        <header class="top live-head">
            <b class="brand">snag</b>
            <span class="run-name" title={now.source}>
                {run.value?.name}
            </span>
            <span class={`live-state ${now.state}`}>{states[now.state]}</span>
            <span class="headline">
                <b class="live-anomalies">{plural(now.anomalies, "anomaly", "anomalies")}</b> in{" "}
                <span class="live-calls">{plural(now.calls, "call")}</span> of{" "}
                {plural(now.ranks, "rank")}, {formatTime(now.severity_ns)} lost
            </span>
            <span class="dim">
                <span class="live-steps">{plural(now.steps, "step")}</span>,{" "}
                {formatTime(now.end_ns)}, {formatCount(now.events_per_s)} events/s
                {now.lag_ns !== null && !isOver.value && `, ${formatTime(now.lag_ns)} behind`}
                {now.store && `, ${plural(now.store.stored, "record")} stored`}
            </span>
            <Trouble now={now} />
            <span class="actions">
                {isPaused.value && newest.value !== shown.value && (
                    <span class="dim">there is more</span>
                )}
                <button
                    aria-pressed={isPaused.value}
                    onClick={() => (isPaused.value = !isPaused.value)}
                    title="What is shown stays as it is; the program and the search go on"
                >
                    {isPaused.value ? "Resume" : "Pause"}
                </button>
            </span>
        </header>
    );
}
