// The runs of a history, the newest first, with what is known of them.
import { HistoryRun, Trend } from "../api/compare_types";
import { formatCount, formatTime } from "../format/units";

function added(run: HistoryRun): string {
    return new Date(run.added_s * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/* The numbers of runs with which the series changed. */
function changedWith(trend: Trend): Map<number, string[]> {
    const paths = new Map<number, string[]>();
    for (const { path, changes } of trend.series)
        for (const { number } of changes)
            paths.set(number, [...(paths.get(number) ?? []), path]);
    return paths;
}

export function RunTable(props: {
    trend: Trend;
    chosen: number | null;
    choose?: (run: number) => void;
}) {
    const { trend, chosen, choose } = props;
    const changed = changedWith(trend);
    const first = trend.runs[0].number;
    return (
        <div class="table" tabIndex={0} role="region" aria-label="Table of runs">
            <table>
                <thead>
                    <tr>
                        <th scope="col">Number</th>
                        <th scope="col" class="words">
                            Added (UTC)
                        </th>
                        <th scope="col" class="words">
                            Run
                        </th>
                        <th scope="col">Executions</th>
                        <th scope="col">Median</th>
                        <th scope="col">99 %</th>
                        <th scope="col">Anomalies</th>
                        <th scope="col" class="words">
                            Tags
                        </th>
                        <th scope="col" class="words">
                            Changed
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {[...trend.runs].reverse().map((run) => (
                        <tr key={run.number} class={run.number === chosen ? "chosen" : ""}>
                            <th scope="row" class="short-row">
                                {choose && run.number !== first ? (
                                    <button
                                        class="quiet"
                                        aria-pressed={run.number === chosen}
                                        title="Against the runs before it"
                                        onClick={() => choose(run.number)}
                                    >
                                        {run.number}
                                    </button>
                                ) : (
                                    run.number
                                )}
                            </th>
                            <td class="words">{added(run)}</td>
                            <td class="words">{run.run}</td>
                            <td>{formatCount(run.executions)}</td>
                            <td>{formatTime(run.median_ns)}</td>
                            <td>{formatTime(run.p99_ns)}</td>
                            <td>{formatCount(run.anomalies)}</td>
                            <td class="words">
                                {Object.entries(run.tags)
                                    .map(([key, value]) => `${key}=${value}`)
                                    .join(" ")}
                            </td>
                            <td class="words">{changed.get(run.number)?.join("; ") ?? ""}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
