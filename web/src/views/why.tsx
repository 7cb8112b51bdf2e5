// Why an execution is strange: the call paths that lost the time, what is called too often or not at
// all, the chain of causes across ranks, and the subtrees that set it apart; first, of which incident
// it is a part and how likely chance does the same. Choosing a line marks its calls in the structure
// and in the timeline.
import { CauseLink, PathShare, Shown } from "../api/types";
import { formatExcess, formatMean, formatShare, formatTime, plural } from "../format/units";
import { select, showView } from "../state/actions";
import { samePath, togglePath } from "../state/marks";
import { shortName, shortPath } from "../state/names";
import { details, mark, shownRanks, timeWindow, whyThreshold } from "../state/store";
import { executionId, shortId } from "../format/ids";
import { chanceWords, incidentSentence } from "../format/incident_words";
import { CauseEnd, causeEnd } from "./cause_end";
import { Subtrees } from "./subtrees";
import { Await, Loading, Panel, sentence } from "./panel";
import { shown } from "./detail";
import { locationOf } from "./timeline_data";

const linkMargin = 0.3;

function usually(path: PathShare): string {
    if (path.usual_calls < 0.05) return "usually none";
    return `usually ${formatTime(path.usual_ns)} in ${formatMean(path.usual_calls)}`;
}

/* The paths that lost more than the threshold of all that was lost. */
export function lostPaths(
    paths: PathShare[],
    percent: number,
): { path: PathShare; share: number }[] {
    const whole = paths.reduce((sum, p) => sum + Math.max(0, p.excess_ns), 0);
    return paths
        .map((path) => ({ path, share: whole ? Math.max(0, path.excess_ns) / whole : 0 }))
        .filter(({ share }) => share > 0 && share * 100 >= percent)
        .sort((a, b) => b.share - a.share);
}

function Paths({ of }: { of: Shown }) {
    const lines = lostPaths(of.paths, whyThreshold.value);
    return (
        <section>
            <h3>
                Where the time was lost
                <label>
                    above{" "}
                    <input
                        type="range"
                        min="0"
                        max="50"
                        value={whyThreshold.value}
                        aria-valuetext={`${whyThreshold.value} percent of the time lost`}
                        onInput={(e) => (whyThreshold.value = Number(e.currentTarget.value))}
                    />{" "}
                    {whyThreshold.value} %
                </label>
            </h3>
            {lines.length ? (
                <ul class="paths">
                    {lines.map(({ path, share }) => {
                        const names = shortPath(path.path);
                        const isMarked = samePath(mark.value, names);
                        return (
                            <li key={path.path.join()}>
                                <button
                                    aria-pressed={isMarked}
                                    onClick={() => togglePath(names)}
                                    title={path.path.join(" > ")}
                                >
                                    <span class="bar-line">
                                        <svg
                                            class="bar"
                                            viewBox="0 0 100 1"
                                            preserveAspectRatio="none"
                                            aria-hidden="true"
                                        >
                                            <rect width={share * 100} height="1" />
                                        </svg>
                                        <b>{formatExcess(path.excess_ns)}</b>
                                        <span>{formatShare(share)}</span>
                                    </span>
                                    <span class="path">
                                        {names.slice(1).join(" > ") || names[0]}
                                    </span>
                                    <small>
                                        {formatTime(path.exclusive_ns)} in{" "}
                                        {plural(path.calls, "call")} ({usually(path)})
                                    </small>
                                </button>
                            </li>
                        );
                    })}
                </ul>
            ) : (
                <p class="dim">
                    No call path lost that much. Move the slider to the left to see more.
                </p>
            )}
        </section>
    );
}

/* The time of a link, with this rank among those that are shown. */
function showLink(link: CauseLink, rank = link.rank, thread = link.thread): void {
    const margin = (link.end_ns - link.begin_ns) * linkMargin;
    timeWindow.value = [link.begin_ns - margin, link.end_ns + margin];
    const location = locationOf(rank, thread)?.id;
    if (location !== undefined && shownRanks.value && !shownRanks.value.includes(location))
        shownRanks.value = [...shownRanks.value, location];
    showView("timeline");
}

function CauseEndItem({ end, last }: { end: CauseEnd; last: CauseLink }) {
    const { who, rank } = end;
    if (rank === null || !locationOf(rank, 0)) return <li class="cause-end">{who}</li>;
    return (
        <li class="cause-end">
            <button onClick={() => showLink(last, rank, 0)} title="Show it in the timeline">
                {who}
            </button>
        </li>
    );
}

function Cause({ of }: { of: Shown }) {
    if (!of.cause?.length) return null;
    const end = causeEnd(of.cause, of.cause_end);
    return (
        <section>
            <h3>{of.cause[0].waits_for ? "What it waited for" : "Which call lost the time"}</h3>
            <ol class="cause">
                {of.cause.map((link) => (
                    <li>
                        <button
                            onClick={() => showLink(link)}
                            title={`Show it in the timeline: ${link.path.join(" > ")}`}
                        >
                            rank {link.rank}: <b>{shortName(link.function)}</b>{" "}
                            {formatTime(link.time_ns)}
                            {link.guessed && " (by time: there is no record of the receive)"}
                        </button>
                    </li>
                ))}
                {end?.who && <CauseEndItem end={end} last={of.cause[of.cause.length - 1]} />}
            </ol>
            {end && <p class="dim">{end.says}</p>}
        </section>
    );
}

function Unusual({ of }: { of: Shown }) {
    const it = of.structure;
    if (!it?.differences?.length) return null;
    return (
        <section>
            <h3 title={it.function}>Unusual calls in {shortName(it.function)}</h3>
            <ul class="plain">
                {it.differences.map((d) => (
                    <li title={d.function}>
                        <b>{shortName(d.function)}</b>: {plural(d.calls, "call")}, usually{" "}
                        {d.usual_least === d.usual_most
                            ? formatMean(d.usual_least)
                            : `${formatMean(d.usual_least)} to ${formatMean(d.usual_most)}`}
                    </li>
                ))}
            </ul>
        </section>
    );
}

function treeOf(id: string): number | null {
    const { rank = [], thread = [], index = [] } = details.value ?? {};
    const name = shortId(id);
    for (let i = 0; i < rank.length; i++)
        if (executionId(rank[i], thread[i], index[i]) === name) return i;
    return null;
}

function Peers({ of }: { of: Shown }) {
    if (!of.peers.length) return null;
    return (
        <section>
            <h3>Anomalies on other ranks at the same time</h3>
            <p class="peers">
                {of.peers.map((id) => (
                    <button onClick={() => select(treeOf(id))} title={id}>
                        {shortId(id)}
                    </button>
                ))}
            </p>
        </section>
    );
}

/* How sure it is that it is strange, and with what else. */
function Standing({ of }: { of: Shown }) {
    const { incident, false_alarm_probability: probability } = of;
    return (
        <section class="standing">
            {incident && (
                <p>
                    {sentence(incidentSentence(incident))}{" "}
                    {incident.head_tree !== of.tree && (
                        <button onClick={() => select(incident.head_tree)}>
                            Look at its head
                        </button>
                    )}
                </p>
            )}
            {probability !== null && (
                <p class="dim" title={`probability ${probability.toPrecision(2)}`}>
                    In a run like this, {chanceWords(probability, of.of)}.
                </p>
            )}
        </section>
    );
}

export function Why() {
    const of = shown.value;
    return (
        <Panel name="why">
            {of ? (
                <Await
                    of={of}
                    what="the reasons"
                    empty="Choose an execution to see why it is a candidate."
                >
                    {(it) => (
                        <div class="why-list">
                            <Standing of={it} />
                            <Cause of={it} />
                            <Paths of={it} />
                            <Unusual of={it} />
                            <Subtrees />
                            <Peers of={it} />
                        </div>
                    )}
                </Await>
            ) : (
                <Loading what="the reasons" />
            )}
        </Panel>
    );
}
