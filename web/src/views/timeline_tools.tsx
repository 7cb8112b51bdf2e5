// Above the timeline: which ranks it shows, and by what calls are coloured; below it, what colours mean.
import { useEffect, useState } from "preact/hooks";
import { getBundle } from "../api/http";
import { Location } from "../api/types";
import { fewestThere } from "../canvas/excess";
import { Calls } from "../canvas/rows";
import { Span } from "../canvas/window";
import { formatCount, plural } from "../format/units";
import { runKeys } from "../state/keys";
import { closeMenus } from "../state/overlays";
import { lanesBeside, mostLanes, printLanes, readLanes } from "../state/lanes";
import { locationsById, ranksOfRun } from "../state/places";
import { shownCause } from "../format/blame";
import { blameNow } from "../state/origin";
import { shownNow } from "../state/selected";
import { askedLanes, areLanesKnown } from "../state/timeline";
import { keepLanes } from "../state/actions";
import { instead } from "../state/acts";
import { filterByWindow } from "../state/timeline_keys";
import { callColours, filter, foi, linksShown, run } from "../state/store";
import { Legend, LegendKeys } from "./legend";
import { Choice } from "./live_panel";
import { knownUsual, UsualNow } from "./timeline_data";
import { excessKeys, keysOfCalls } from "./timeline_scene";

type LinksShown = (typeof linksShown)["value"];
const linkNames: Record<LinksShown, string> = {
    all: "messages, collectives, launches",
    messages: "messages alone",
    collectives: "collectives alone",
    launches: "launches alone",
    none: "nothing",
};
const mostLost = 16;
const beside = 2; /* ranks on either side */

/* Ranks by what their executions lost, the most first: each by its first lane. */
async function ranksByLoss(abort: AbortSignal): Promise<number[]> {
    const { columns } = await getBundle(`/fois/${foi.value?.id}/map?of=lost&width=1`, abort);
    const lostBy = (threads: Location[]) =>
        threads.reduce((sum, l) => sum + columns.total_ns[l.id], 0);
    return [...ranksOfRun.value.values()]
        .map((threads) => ({ id: threads[0].id, lost: lostBy(threads) }))
        .sort((a, b) => b.lost - a.lost || a.id - b.id)
        .map(({ id }) => id);
}

/* Of all ranks, or of those that are shown; as many as are wanted. */
function showByLoss(among: number[] | null, most: number): void {
    const rankOf = (id: number) => locationsById.value.get(id)?.rank;
    const kept = among && new Set(among.map(rankOf));
    instead(async (abort) => {
        const lanes = await ranksByLoss(abort);
        const shown = lanes.filter((id) => !kept || kept.has(rankOf(id))).slice(0, most);
        return () => keepLanes(shown);
    });
}

export function RankChoice() {
    const locations = run.value?.locations ?? [];
    const lanes = askedLanes.value;
    const own = shownNow()?.location ?? null;
    const all = [...ranksOfRun.value.values()].map((threads) => threads[0].id);
    const now = printLanes(lanes, locations);
    const ranks = new Set(lanes.map((id) => locationsById.value.get(id)?.rank)).size;
    const [text, setText] = useState(now);
    const [isWrong, setWrong] = useState(false);
    useEffect(() => setText(now), [now]);
    const take = (said: string) => {
        const lanes = readLanes(said, locations);
        setWrong(!lanes);
        if (lanes) choose(() => keepLanes(lanes));
    };
    const around = () => {
        const sides = own === null ? [] : lanesBeside(own, beside, locations);
        keepLanes([...new Set([...sides, ...lanes])].sort((a, b) => a - b));
    };
    const choose = (act: () => void) => {
        act();
        closeMenus(); /* it lies over what was chosen */
    };
    return (
        <details class="menu ranks">
            <summary aria-busy={!areLanesKnown.value}>
                {areLanesKnown.value ? `${plural(ranks, "rank")} shown` : "ranks ..."}
            </summary>
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
                <button onClick={() => choose(() => keepLanes(all.slice(0, mostLanes)))}>
                    {all.length > mostLanes
                        ? `The first ${mostLanes} of ${formatCount(all.length)} ranks`
                        : "All ranks"}
                </button>
                <button onClick={() => choose(() => keepLanes(null))}>
                    Only the ranks it exchanged messages with
                </button>
                <button onClick={() => choose(() => showByLoss(null, mostLost))}>
                    The ranks that lost most, up to {mostLost}
                </button>
                <button onClick={() => choose(() => showByLoss(lanes, mostLanes))}>
                    These ranks, those that lost most first
                </button>
                {own !== null && (
                    <button onClick={() => choose(around)}>
                        And {beside} ranks on either side
                    </button>
                )}
                <label>
                    Between lanes
                    <Choice
                        value={linksShown.value}
                        options={Object.entries(linkNames) as [LinksShown, string][]}
                        choose={(links) => choose(() => (linksShown.value = links))}
                    />
                </label>
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
            <Choice
                value={callColours.value}
                title="By what calls are coloured"
                options={[
                    ["kind", "by kind"],
                    ["function", "by function"],
                    ["excess", "by excess"],
                ]}
                choose={(by) => (callColours.value = by)}
            />
        </label>
    );
}

/* How much longer than usual, as far as that is known. */
function ExcessLegend({ usual: now }: { usual: UsualNow }) {
    const usual = knownUsual(now);
    if (!usual)
        return (
            <p class="legend kinds-legend" aria-label="Colours of calls" role="status">
                {now && now !== "coming" && "error" in now
                    ? `What is typical of calls is not known: ${now.error}.`
                    : "Loading what is typical of calls ..."}
            </p>
        );
    return (
        <Legend of="calls">
            <span>longer than is typical on the call path there, by</span>
            <LegendKeys keys={excessKeys(usual)} />
            <span>
                compared with the same rank (or thread); with all, where one has fewer than{" "}
                {fewestThere} executions. Calls of one path are compared with each other,
                whatever work each has: where that differs, the larger ones look late
            </span>
        </Legend>
    );
}

/* What the number at a call says, where one is drawn. */
function CauseKey() {
    const it = shownNow();
    const blame = it && blameNow(it);
    if (!it || !shownCause(it, blame).length) return null;
    return (
        <span>
            <span class={`cause-key ${it.verdict}`}>1</span>{" "}
            {blame === "anomaly" ? "what it goes back to" : "what it waited in, and for"}
        </span>
    );
}

export function TimelineLegend(props: {
    calls: Calls;
    window: Span;
    usual: UsualNow;
    hasMessages: boolean;
    hasCollectives: boolean;
    hasLaunches: boolean;
}) {
    const { calls, window, usual, hasMessages, hasCollectives, hasLaunches } = props;
    if (callColours.value === "excess") return <ExcessLegend usual={usual} />;
    if (callColours.value !== "kind") return null;
    return (
        <Legend of="calls">
            <CauseKey />
            <LegendKeys keys={keysOfCalls(calls, window)} />
            {hasMessages && (
                <span>
                    <svg viewBox="0 0 4 2" aria-hidden="true">
                        <path class="message-key" d="M0 1H3.6M2.8 .4L3.6 1 2.8 1.6" />
                    </svg>{" "}
                    a message; grey: of another execution
                </span>
            )}
            {hasLaunches && (
                <span>
                    <svg viewBox="0 0 4 2" aria-hidden="true">
                        <path class="launch-key" d="M0 1H3.6M2.8 .4L3.6 1 2.8 1.6" />
                    </svg>{" "}
                    a launch, from who launched to what began then
                </span>
            )}
            {hasCollectives && (
                <span>
                    <svg viewBox="0 0 2 1" aria-hidden="true">
                        <path class="collective-key" d="M0 0H1.3V1z" />
                        <path d="M1 .5L1.3 .2 1.6 .5 1.3 .8z" fill="currentColor" />
                    </svg>{" "}
                    a collective, who waited for the ◆ last
                </span>
            )}
        </Legend>
    );
}

/* The time of the filter. */
export function OnlyWindow({ window }: { window: Span }) {
    const time = filter.value.time;
    const isSo =
        time !== null &&
        time[0] === Math.max(0, Math.floor(window[0])) &&
        time[1] === Math.ceil(window[1]);
    return (
        <button
            aria-pressed={isSo}
            title={`Filter all views: only what has a part in this window (${runKeys.keyOf("onlyWindow")})`}
            onClick={filterByWindow}
        >
            Only this window
        </button>
    );
}

/* fits: what the last one does, in its tooltip. */
export function ZoomButtons(props: {
    zoom: (factor: number) => void;
    fit: () => void;
    fits: string;
}) {
    return (
        <span class="together">
            <button
                title={`Zoom out (${runKeys.keyOf("zoomOut")})`}
                aria-label="Zoom out"
                onClick={() => props.zoom(1 / 2)}
            >
                −
            </button>
            <button
                title={`Zoom in (${runKeys.keyOf("zoomIn")}; or Ctrl and the wheel)`}
                aria-label="Zoom in"
                onClick={() => props.zoom(2)}
            >
                +
            </button>
            <button title={props.fits} onClick={props.fit}>
                Fit
            </button>
        </span>
    );
}
