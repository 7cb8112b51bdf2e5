// The page of runs that are compared: what changed, where, in which executions.
import { useEffect } from "preact/hooks";
import { ComparedRuns, Comparison, ComparisonTree } from "../api/compare_types";
import { getBundleOf, getJson } from "../api/http";
import { executionId } from "../format/ids";
import { formatScore, formatTime } from "../format/units";
import { pathChosen } from "../state/compared";
import { comparedKeys } from "../state/compared_keys";
import { loadRows, rowsQuery, runRows } from "../state/compared_load";
import { RunRows, rowsOf } from "../state/compared_rows";
import { pairedRuns, showExecution, shownPair } from "../state/compared_timelines";
import { hearKeys } from "../state/key_table";
import { useQuery } from "../state/query";
import {
    ColourBy,
    colourBy,
    details,
    executions,
    lassoed,
    run,
    selected,
    xAttribute,
    yAttribute,
} from "../state/store";
import { executionLink, ListedExecution, PathExecutions } from "./compared_executions";
import { Headline, RunLines, TopLine } from "./compared_head";
import { ComparedHelp } from "./compared_help";
import { TimelinesView } from "./compared_timelines";
import { DifferenceView, kindsPane, PathsView } from "./compared_views";
import { PictureButtons } from "./export";
import { below, beside, FixedPanes, pane } from "./fixed_panes";
import { Messages } from "./header";
import { Choice, LivePanel } from "./live_panel";
import { Sentence } from "./name";
import { AttributeChoice } from "./overview";
import { Await, Empty, Failed, Loading } from "./panel";
import { LassoButton, Scatter } from "./scatter";
import { SkipLinks } from "./skip_links";

const mostListed = 8; /* executions of a run on a path */
const colours: [ColourBy, string][] = [
    ["side", "before, after"],
    ["verdict", "verdict"],
    ["score", "score"],
    ["rank", "rank"],
];

/* The names of a path in the runs before, where some have another name now. */
function pathIn({ run }: RunRows, path: string, renames: [string, string][]): string[] {
    const old = new Map(renames.map(([from, to]) => [to, from]));
    return path
        .split(" > ")
        .map((name) => (run.side === "before" ? (old.get(name) ?? name) : name));
}

function listOf(of: RunRows, columns: Record<string, ArrayLike<number>>): ListedExecution[] {
    const { tree, calls, time_ns } = columns;
    const longest = Array.from(tree, (_, i) => i)
        .sort((a, b) => time_ns[b] - time_ns[a] || a - b)
        .slice(0, mostListed);
    return longest.map((i) => {
        const at = of.first + tree[i];
        return {
            tree: tree[i],
            rank: details.value!.rank[at],
            thread: details.value!.thread[at],
            index: details.value!.index[at],
            duration_ns: executions.value!.duration_ns[at],
            time_ns: time_ns[i],
            calls: calls[i],
        };
    });
}

/* Shows an execution beside its counterpart; null where the other side has no run with a page. */
function showing(of: RunRows): ((row: number) => void) | null {
    const run = pairedRuns.value[of.run.side].find(({ first }) => first === of.first);
    return run && shownPair.value ? (row) => showExecution(run, row) : null;
}

function OfRun(props: { of: RunRows; path: string; renames: [string, string][] }) {
    const { run, n } = props.of;
    const path = pathIn(props.of, props.path, props.renames);
    const said = path.join(" > ");
    const found = useQuery(`${run.page} ${said}`, (abort) =>
        getBundleOf(run.page!, `/fois/${run.foi}/path?path=${encodeURIComponent(said)}`, abort),
    );
    return (
        <Await of={found} what="executions" empty="">
            {({ columns }) => (
                <PathExecutions
                    title={`${run.run}, ${run.side}`}
                    page={run.page}
                    path={path}
                    n={n}
                    nWith={columns.tree.length}
                    rows={listOf(props.of, columns)}
                    show={showing(props.of) ?? undefined}
                />
            )}
        </Await>
    );
}

function ExecutionsView({ renames }: { renames: [string, string][] }) {
    const path = pathChosen.value;
    return (
        <LivePanel name="executions" title="Executions">
            {path === null ? (
                <Empty>Choose a call path to see the executions behind it.</Empty>
            ) : (
                <div class="behind">
                    <p>
                        <code>
                            <Sentence of={path} />
                        </code>
                    </p>
                    {rowsQuery.answer.value.isLoading && <Loading what="the executions" />}
                    <div class="behind-runs">
                        {runRows.value.map((of) => (
                            <OfRun key={of.run.page} of={of} path={path} renames={renames} />
                        ))}
                    </div>
                </div>
            )}
        </LivePanel>
    );
}

/* The one that is selected, and where all of it is. */
function SelectedLine() {
    const tree = selected.value;
    const [all, more] = [executions.value, details.value];
    const of = tree === null ? null : rowsOf(tree, runRows.value);
    if (tree === null || !of || !all || !more)
        return (
            <p class="legend">
                {lassoed.value
                    ? `${lassoed.value.length} executions are chosen.`
                    : "Click a point for its execution. Anomalies have an outline."}
            </p>
        );
    return (
        <p class="legend">
            <a href={executionLink(of.run.page!, tree - of.first, null)}>
                {executionId(more.rank[tree], more.thread[tree], more.index[tree])} of{" "}
                {of.run.run}
            </a>
            , {of.run.side}: {formatTime(all.duration_ns[tree])}, score{" "}
            {formatScore(all.score[tree])}, {all.verdict[tree] ? "anomaly" : "normal"}{" "}
            <ShowInTimelines of={of} row={tree - of.first} />
        </p>
    );
}

function ShowInTimelines({ of, row }: { of: RunRows; row: number }) {
    const show = showing(of);
    if (!show) return null;
    return (
        <button
            class="quiet"
            title="This execution, and the other run's of the same rank and number"
            onClick={() => show(row)}
        >
            In both timelines
        </button>
    );
}

function PointsView({ runs }: { runs: ComparedRuns }) {
    const all = executions.value;
    const asked = rowsQuery.answer.value;
    const hasPages = runs.runs.some((r) => r.page !== null);
    return (
        <LivePanel
            name="both"
            title="Both runs"
            tools={
                <>
                    <AttributeChoice name="x" of={xAttribute} />
                    <AttributeChoice name="y" of={yAttribute} />
                    <Choice
                        label="Colour"
                        value={colourBy.value}
                        options={colours}
                        choose={(by) => (colourBy.value = by)}
                    />
                    <LassoButton />
                    <PictureButtons name="overview" title="Both runs" />
                </>
            }
        >
            {all ? (
                <>
                    <Scatter
                        all={all}
                        label={`${all.n} executions of both sides as points; those behind a call path are listed in Executions`}
                    />
                    <SelectedLine />
                </>
            ) : asked.error ? (
                <Failed text={asked.error} retry={asked.retry} />
            ) : hasPages ? (
                <Loading what="the executions" />
            ) : (
                <Empty>None of these is a run directory: their executions are not here.</Empty>
            )}
        </LivePanel>
    );
}

const arrange = () => [
    pane(beside(pane("difference", 3), pane("both", 2)), 1, 22),
    pane("timelines", 1.3, 26),
    pane(
        beside(
            pane("paths", 3),
            pane(below(pane("kinds", 1, 12), pane("executions", 1, 12)), 2),
        ),
        1,
    ),
];

export function ComparedPage() {
    const all = useQuery("comparison", (abort) =>
        Promise.all([
            getJson<Comparison>("/comparison", abort),
            getJson<ComparisonTree>("/comparison/tree", abort),
            getJson<ComparedRuns>("/comparison/runs", abort),
        ]),
    );
    useEffect(() => hearKeys(comparedKeys), []);
    const runs = all.value?.[2];
    useEffect(() => {
        if (runs) loadRows(runs);
    }, [runs]);
    return (
        <Await of={all} what="the comparison" empty="">
            {([comparison, tree, { runs, renames }]) => (
                <>
                    <SkipLinks
                        to={[
                            { to: "view-difference", says: "To the difference" },
                            { to: "view-timelines", says: "To both timelines" },
                            { to: "view-paths", says: "To the changed paths" },
                            { to: "view-executions", says: "To the executions" },
                        ]}
                    />
                    <TopLine is={`Comparison of ${run.value!.name}`} name="">
                        <RunLines runs={runs} />
                    </TopLine>
                    <Messages />
                    <Headline of={comparison} />
                    <FixedPanes
                        page="compared"
                        arrange={arrange}
                        views={[
                            {
                                name: "difference",
                                title: "Difference",
                                least: 25,
                                view: <DifferenceView tree={tree} />,
                            },
                            {
                                name: "both",
                                title: "Both runs",
                                least: 18,
                                view: <PointsView runs={{ runs, renames }} />,
                            },
                            {
                                name: "timelines",
                                title: "Both timelines",
                                least: 36,
                                view: <TimelinesView tree={tree} />,
                            },
                            {
                                name: "paths",
                                title: "Changed paths",
                                least: 18,
                                view: <PathsView of={comparison} name={run.value!.name} />,
                            },
                            ...kindsPane(comparison),
                            {
                                name: "executions",
                                title: "Executions",
                                least: 16,
                                view: <ExecutionsView renames={renames} />,
                            },
                        ]}
                    />
                    <ComparedHelp keys={comparedKeys} />
                </>
            )}
        </Await>
    );
}
