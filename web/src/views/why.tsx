// Why an execution is strange: what it goes back to, first; the call paths that lost the time, how the
// others did, of which incident it is a part and how likely chance does the same, what is called too
// often or not at all, and what there is more or less of than in those most like it. Choosing a line marks its calls in the structure
// and in the timeline.
import { CallDifference, PathShare, Shown } from "../api/types";
import { drawBars } from "../canvas/figure";
import {
    formatExcess,
    formatMean,
    formatShare,
    formatTime,
    plural,
    sentence,
} from "../format/units";
import { select } from "../state/actions";
import { instead } from "../state/acts";
import { detailsQuery } from "../state/load";
import { blameNow } from "../state/origin";
import { samePath, togglePath } from "../state/marks";
import { shortName, shortPath } from "../state/names";
import { details, isFew, mark, selected, typicalNow, whyThreshold } from "../state/store";
import { executionId, readExecutionId, shortId } from "../format/ids";
import { chanceWords, incidentSentence } from "../format/incident_words";
import { CauseChain } from "./cause_chain";
import { Subtrees } from "./subtrees";
import { Await, NothingSelected, Panel } from "./panel";
import { inks } from "./inks";
import { newPen, usePicture, useTable } from "./pictures";
import { shownQuery } from "../state/selected";
import { elsewhere } from "../state/peers";
import { AgainstPeers, PathBeside } from "./peers";
import { Name, PathNames } from "./name";

const figureWidth = 560;
const mostPeers = 5; /* that are told */
const mostBeside = 3; /* paths that are compared with those of others */

function usually(path: PathShare): string {
    const { short, single } = typicalNow.value;
    if (path.usual_calls < 0.05) return `${short}: none`;
    const calls = formatMean(path.usual_calls);
    return `${single}: ${formatTime(path.usual_ns)} in ${calls} call${calls === "1" ? "" : "s"}`;
}

/* Whether it lost time, or just differs: then what took less counts as what took more. */
const hasLost = (of: Shown): boolean => blameNow(of) === "anomaly";

function heading(of: Shown): string {
    if (hasLost(of)) return "Where the time was lost";
    return `Where it differs from ${typicalNow.value.is}`;
}

/* What a path lost, or differs by. */
const partOf = (of: Shown, { excess_ns }: PathShare): number =>
    hasLost(of) ? Math.max(0, excess_ns) : Math.abs(excess_ns);

/* Of which the shares are. */
const wholeOf = (of: Shown): number => of.paths.reduce((sum, p) => sum + partOf(of, p), 0);

/* The paths that lost, or differ by, more than the threshold of all that was lost, or differs. */
function listedPaths(of: Shown, percent: number): { path: PathShare; share: number }[] {
    const part = (path: PathShare) => partOf(of, path);
    const whole = wholeOf(of);
    return of.paths
        .map((path) => ({ path, share: whole ? part(path) / whole : 0 }))
        .filter(({ share }) => share > 0 && share * 100 >= percent)
        .sort((a, b) => b.share - a.share);
}

function Paths({ of }: { of: Shown }) {
    const lines = listedPaths(of, whyThreshold.value);
    return (
        <section>
            <h3>
                {heading(of)}
                <label>
                    above{" "}
                    <input
                        type="range"
                        min="0"
                        max="50"
                        value={whyThreshold.value}
                        aria-valuetext={`${whyThreshold.value} percent of the ${hasLost(of) ? "time lost" : "difference"}`}
                        onInput={(e) => (whyThreshold.value = Number(e.currentTarget.value))}
                    />{" "}
                    {whyThreshold.value} %
                </label>
            </h3>
            {lines.length ? (
                <ul class="paths">
                    {lines.map(({ path, share }, k) => {
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
                                            class={`bar ${of.verdict}`}
                                            viewBox="0 0 100 1"
                                            preserveAspectRatio="none"
                                            aria-hidden="true"
                                        >
                                            <rect width={share * 100} height="1" />
                                        </svg>
                                        <b>{formatExcess(path.excess_ns)}</b>
                                        <span
                                            title={`of ${formatTime(wholeOf(of))}: ${hasLost(of) ? "what took longer, without what took less" : "all that differs"}`}
                                        >
                                            {formatShare(share)} of{" "}
                                            {hasLost(of)
                                                ? "what took longer"
                                                : "all that differs"}
                                        </span>
                                    </span>
                                    <span class="path">
                                        <PathNames
                                            of={names.length > 1 ? names.slice(1) : names}
                                        />
                                    </span>
                                    <small>
                                        own time {formatTime(path.exclusive_ns)} in{" "}
                                        {plural(path.calls, "call")} ({usually(path)})
                                    </small>
                                    {k < mostBeside && <PathBeside of={of} path={path} />}
                                </button>
                            </li>
                        );
                    })}
                </ul>
            ) : (
                <p class="dim">
                    No call path {hasLost(of) ? "lost" : "differs by"} that much. Move the
                    slider to the left to see more.
                </p>
            )}
            <InAll of={of} listed={lines.reduce((sum, { path }) => sum + path.excess_ns, 0)} />
        </section>
    );
}

/* What the lines above add up to, with what has none. */
function InAll({ of, listed }: { of: Shown; listed: number }) {
    const more = of.duration_ns - of.tracer_ns - of.usual_ns;
    const rest = more - listed;
    if (of.open_ns !== null) return null;
    return (
        <p class="dim">
            {Math.abs(rest) >= 0.01 * Math.abs(more) &&
                `${formatExcess(rest)} beside these: on other call paths, and as times of single paths do not add up to that of the whole; `}
            {formatExcess(more)} in all, against {typicalNow.value.execution} (
            {formatTime(of.usual_ns)})
        </p>
    );
}

/* As on the page: what lost more than the slider says; the table has all paths. */
function Saved({ of }: { of: Shown }) {
    usePicture("why", () => {
        const pen = newPen();
        const bars = listedPaths(of, whyThreshold.value).map(({ path, share }) => ({
            name: shortPath(path.path).join(" > "),
            ns: Math.abs(path.excess_ns),
            says: `${formatExcess(path.excess_ns)}, ${formatShare(share)}`,
        }));
        const size = drawBars(
            pen,
            bars,
            hasLost(of)
                ? "time lost, beyond what is typical"
                : `own time, more or less than ${typicalNow.value.than}`,
            figureWidth,
            inks(),
        );
        return { ...size, content: pen.toString(), about: `${of.id}: ${of.why}` };
    });
    useTable("why", () => ({
        head: "path,calls,usual_calls,exclusive_ns,usual_ns,excess_ns".split(","),
        rows: of.paths.map((p) => [
            p.path.join(" > "),
            p.calls,
            p.usual_calls,
            p.exclusive_ns,
            p.usual_ns,
            p.excess_ns,
        ]),
    }));
    return null;
}

/* How often a function is called in the others; what is in none of them has no typical number. */
function typicalCalls({ usual_least: least, usual_most: most }: CallDifference): string {
    if (most === 0) return "not in a typical execution";
    return `typical ${least === most ? "" : `${formatMean(least)} to `}${formatMean(most)}`;
}

function Unusual({ of }: { of: Shown }) {
    const it = of.structure;
    if (it?.order)
        return (
            <section>
                <h3 title={it.function}>
                    <span>
                        Another order of calls in <Name of={shortName(it.function)} />
                    </span>
                </h3>
                <p>
                    <b title={it.order.early}>
                        <Name of={shortName(it.order.early)} />
                    </b>{" "}
                    before{" "}
                    <b title={it.order.late}>
                        <Name of={shortName(it.order.late)} />
                    </b>
                    , typically after it: {it.order.calls ? formatMean(it.order.calls) : "none"}{" "}
                    of {plural(it.order.of, "call")} with the same calls inside are in another
                    order than the typical one
                </p>
            </section>
        );
    if (!it?.differences?.length) return null;
    return (
        <section>
            <h3 title={it.function}>
                <span>
                    Rare calls in <Name of={shortName(it.function)} />
                </span>
            </h3>
            <ul class="plain">
                {it.differences.map((d) => (
                    <li title={d.function}>
                        <b>
                            <Name of={shortName(d.function)} />
                        </b>
                        : {plural(d.calls, "call")}, {typicalCalls(d)}
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

/* Which it is, once ranks and numbers of executions are here. */
function selectPeer(id: string): void {
    instead(async () => {
        await detailsQuery.settled();
        const tree = treeOf(id);
        return tree === null ? null : () => select(tree);
    });
}

function Peers({ of }: { of: Shown }) {
    if (!of.peers.length) return null;
    const places = of.peers.flatMap((id) => readExecutionId(id) ?? []);
    return (
        <section>
            <h3>
                Anomalies on {elsewhere(of, places)}s at the same time
                {of.peers.length >= mostPeers && ": those with the highest scores"}
            </h3>
            <p class="peers">
                {of.peers.map((id) => (
                    <button onClick={() => selectPeer(id)} title={id}>
                        {shortId(id)}
                    </button>
                ))}
            </p>
        </section>
    );
}

/* Whether the sentence at the top has said already how often chance does this. */
function saysChance(why: string): boolean {
    return / by chance in /.test(why);
}

/* How sure it is that it is strange, and with what else. */
function Standing({ of }: { of: Shown }) {
    const { incident, false_alarm_probability: probability } = of;
    return (
        <section class="standing">
            {incident && (of.verdict === "anomaly" || incident.lost_ns > 0) && (
                <p>
                    {sentence(incidentSentence(incident))}{" "}
                    {incident.head_tree !== of.tree && (
                        <button onClick={() => select(incident.head_tree)}>
                            Look at its head
                        </button>
                    )}
                </p>
            )}
            {probability !== null && !isFew.value && !saysChance(of.why) && (
                <p class="dim" title={`probability ${probability.toPrecision(2)}`}>
                    In a run like this, {chanceWords(probability, of.of)}.
                </p>
            )}
        </section>
    );
}

/* What excess is against, and what that does not tell. */
function Against({ of }: { of: Shown }) {
    return (
        <p class="dim">
            Times of call paths are own times, without what was called, against{" "}
            {typicalNow.value.single} of the path
            {of.paths.some(({ calls }) => calls > 1) &&
                ". Several calls of one path are compared as if each had the same work: where they have not, the larger ones look late"}
            .
        </p>
    );
}

export function Why() {
    return (
        <Panel name="why">
            {selected.value === null ? (
                <NothingSelected>Choose an execution to see why it is strange.</NothingSelected>
            ) : (
                <Await of={shownQuery.answer.value} what="the reasons" empty="">
                    {(it) => (
                        <div class="why-list" key={it.id}>
                            <Saved of={it} />
                            <CauseChain of={it} />
                            <Paths of={it} />
                            <AgainstPeers of={it} />
                            <Standing of={it} />
                            <Against of={it} />
                            <Unusual of={it} />
                            <Peers of={it} />
                            <Subtrees />
                        </div>
                    )}
                </Await>
            )}
        </Panel>
    );
}
