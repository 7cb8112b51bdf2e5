// The page of a history: how long executions took from run to run, and any run against those before.
import { useEffect, useRef } from "preact/hooks";
import { Comparison, ComparisonTree, Trend } from "../api/compare_types";
import { getJson } from "../api/http";
import { formatChange, lastNames } from "../format/change";
import { plural } from "../format/units";
import { functionChosen, lastRuns, runShown, seriesShown } from "../state/compared";
import { historyKeys } from "../state/compared_keys";
import { hearKeys } from "../state/key_table";
import { useQuery } from "../state/query";
import { run } from "../state/store";
import { Headline, TopLine } from "./compared_head";
import { ComparedHelp } from "./compared_help";
import { DifferenceView, kindsPane, PathsView } from "./compared_views";
import { PictureButtons } from "./export";
import { FixedPanes, StackedPanes } from "./fixed_panes";
import { Messages } from "./header";
import { Choice, LivePanel } from "./live_panel";
import { Await } from "./panel";
import { SkipLinks } from "./skip_links";
import { TrendChart } from "./trend_chart";
import { RunTable } from "./trend_runs";

const mostSeries = 200; /* to choose from */

interface HistoryFunction {
    foi: string;
    runs: number;
}

function chooseRun(number: number): void {
    runShown.value = runShown.value === number ? null : number;
}

function seriesOptions(trend: Trend): [string, string][] {
    return trend.series.slice(0, mostSeries).map(({ path, changes }, i) => {
        const last = changes[changes.length - 1];
        const said = last
            ? ` (${formatChange(last.before_ns > 0 ? last.after_ns / last.before_ns - 1 : Infinity)} at ${last.number})`
            : "";
        return [i === 0 ? "" : path, `${i === 0 ? "the whole" : lastNames(path, 3)}${said}`];
    });
}

function TrendView({ trend }: { trend: Trend }) {
    const series =
        trend.series.slice(1).find((s) => s.path === seriesShown.value) ?? trend.series[0];
    const isWhole = series === trend.series[0];
    return (
        <LivePanel
            name="trend"
            title="Trend"
            tools={
                <>
                    <Choice
                        label="Call path"
                        value={isWhole ? "" : series.path}
                        options={seriesOptions(trend)}
                        choose={(path) => (seriesShown.value = path || null)}
                    />
                    <PictureButtons name="trend" title="Trend" />
                </>
            }
        >
            <TrendChart
                trend={trend}
                series={series}
                chosen={runShown.value}
                choose={chooseRun}
            />
            <p class="legend">
                {isWhole
                    ? "Time of an execution: the mean, and its median as a broken line."
                    : `${series.path}: own time in an execution.`}{" "}
                Upright lines: it changed there by more than the spread between runs.
            </p>
            {trend.notes.map((note) => (
                <p class="legend">{note}</p>
            ))}
        </LivePanel>
    );
}

function LookBack({ trend, number }: { trend: Trend; number: number }) {
    const query = `foi=${encodeURIComponent(trend.foi)}&last=${lastRuns.value}`;
    const all = useQuery(`${number} ${query}`, (abort) =>
        Promise.all([
            getJson<Comparison>(`/history/runs/${number}/comparison?${query}`, abort),
            getJson<ComparisonTree>(`/history/runs/${number}/comparison/tree?${query}`, abort),
        ]),
    );
    const section = useRef<HTMLElement>(null);
    useEffect(() => {
        if (all.value) section.current?.scrollIntoView({ block: "start" });
    }, [all.value]);
    return (
        <section
            ref={section}
            class="look-back"
            aria-label={`Number ${number} against those before`}
        >
            <div class="look-back-head">
                <h2>Number {number} against</h2>
                <label>
                    the last{" "}
                    <input
                        class="short"
                        type="number"
                        min={1}
                        max={999}
                        value={lastRuns.value}
                        onChange={(e) => {
                            const n = Math.round(Number(e.currentTarget.value));
                            if (n >= 1 && n <= 999) lastRuns.value = n;
                        }}
                    />{" "}
                    before
                </label>
                <button onClick={() => (runShown.value = null)}>Close</button>
            </div>
            <Await of={all} what="the comparison" empty="">
                {([comparison, tree]) => (
                    <>
                        <Headline of={comparison} />
                        <StackedPanes
                            page="compared"
                            views={[
                                {
                                    name: "difference",
                                    title: "Difference",
                                    least: 19,
                                    view: <DifferenceView tree={tree} />,
                                },
                                ...kindsPane(comparison),
                                {
                                    name: "paths",
                                    title: "Changed paths",
                                    least: 22,
                                    view: (
                                        <PathsView
                                            of={comparison}
                                            name={`${run.value!.name}-${number}`}
                                        />
                                    ),
                                },
                            ]}
                        />
                    </>
                )}
            </Await>
        </section>
    );
}

function OfFunction({ foi }: { foi: string }) {
    const trend = useQuery(foi, (abort) =>
        getJson<Trend>(`/history?foi=${encodeURIComponent(foi)}`, abort),
    );
    return (
        <Await of={trend} what="the runs" empty="">
            {(of) => (
                <FixedPanes
                    page="history"
                    arrange={null}
                    seen={runShown.value === null ? 1 : 0.85}
                    views={[
                        {
                            name: "trend",
                            title: "Trend",
                            least: 18,
                            view: <TrendView trend={of} />,
                        },
                        {
                            name: "runs",
                            title: "Runs",
                            least: 14,
                            view: (
                                <LivePanel name="runs" title="Runs">
                                    <RunTable
                                        trend={of}
                                        chosen={runShown.value}
                                        choose={chooseRun}
                                    />
                                </LivePanel>
                            ),
                        },
                    ]}
                >
                    {runShown.value !== null && <LookBack trend={of} number={runShown.value} />}
                </FixedPanes>
            )}
        </Await>
    );
}

export function HistoryPage() {
    const functions = useQuery("functions", (abort) =>
        getJson<HistoryFunction[]>("/history/functions", abort),
    );
    useEffect(() => hearKeys(historyKeys), []);
    return (
        <Await of={functions} what="the history" empty="">
            {(list) => {
                const of = list.find((f) => f.foi === functionChosen.value) ?? list[0];
                return (
                    <>
                        <SkipLinks
                            to={[
                                { to: "view-trend", says: "To the trend" },
                                { to: "view-runs", says: "To the runs" },
                            ]}
                        />
                        <TopLine is={`History ${run.value!.name}`} name={run.value!.name}>
                            <span class="headline">
                                {plural(of.runs, "run")} of{" "}
                                {list.length > 1 ? (
                                    <Choice
                                        label="Function of interest"
                                        value={of.foi}
                                        options={list.map((f): [string, string] => [
                                            f.foi,
                                            f.foi,
                                        ])}
                                        choose={(foi) => {
                                            functionChosen.value = foi;
                                            runShown.value = seriesShown.value = null;
                                        }}
                                    />
                                ) : (
                                    <code>{of.foi}</code>
                                )}
                            </span>
                        </TopLine>
                        <Messages />
                        <OfFunction foi={of.foi} />
                        <ComparedHelp keys={historyKeys} />
                    </>
                );
            }}
        </Await>
    );
}
