// The runs of a history, the newest first, with what is known of them.
import { HistoryRun, Trend } from "../api/compare_types";
import { formatCount, formatTime } from "../format/units";

function added(run: HistoryRun): string {
    return new Date(run.added_s * 1000).toISOString().slice(0, 16).replace("T", " ");
}

const numbers = [
    ["Executions", "of the function"],
    ["Median", "of their times"],
    ["99 %", "so many of them took no longer"],
    ["Anomalies", "among them"],
];
const words = ["Added (UTC)", "Run", "Tags", "Changed"];

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
            <table class="runs">
                <thead>
                    <tr>
                        <th scope="col">Number</th>
                        {numbers.map(([title, help]) => (
                            <th key={title} scope="col" title={help}>
                                {title}
                            </th>
                        ))}
                        {words.map((title) => (
                            <th key={title} scope="col" class="words">
                                {title}
                            </th>
                        ))}
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
                            <td>{formatCount(run.executions)}</td>
                            <td>{formatTime(run.median_ns)}</td>
                            <td>{formatTime(run.p99_ns)}</td>
                            <td>{formatCount(run.anomalies)}</td>
                            {[
                                added(run),
                                run.run,
                                Object.entries(run.tags)
                                    .map(([key, value]) => `${key}=${value}`)
                                    .join(" "),
                                changed.get(run.number)?.join("; ") ?? "",
                            ].map((text, i) => (
                                <td key={words[i]} class="words" data-of={words[i]}>
                                    {text}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
