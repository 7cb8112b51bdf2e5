// What judges the calls of a region: how long they take, and what is usual of that.
import { getJson } from "../api/http";
import { LiveModel } from "../api/live_types";
import { formatTime, plural } from "../format/units";
import { looked, modelRegion, regionNames, shown } from "../state/live";
import { useResource } from "../state/resource";
import { Choice, LivePanel } from "./live_panel";
import { Await, Empty } from "./panel";

const [width, height, columns] = [400, 120, 100];

/* Logarithms of durations, counts as their square roots: what is rare has to be seen. */
function Histogram({ model }: { model: LiveModel }) {
    const log = (ns: number) => Math.log(ns + 1);
    const ends = model.usual_ns.flat().filter((ns) => ns < 1e18);
    const low = log(Math.min(model.minimum_ns, ...ends));
    const high = log(Math.max(model.maximum_ns, ...ends)) + 1e-9;
    const at = (ns: number) => Math.min(Math.max((log(ns) - low) / (high - low), 0), 1) * width;
    const counts = new Array(columns).fill(0);
    for (const [begin, end, count] of model.bins) {
        const column = Math.floor((at((begin + end) / 2) / width) * columns);
        counts[Math.min(column, columns - 1)] += count;
    }
    const highest = Math.sqrt(Math.max(...counts, 1));
    return (
        <svg
            class="histogram"
            viewBox={`0 0 ${width} ${height}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`Durations from ${formatTime(model.minimum_ns)} to ${formatTime(model.maximum_ns)}`}
        >
            {model.usual_ns.map(([least, most]) => (
                <rect
                    class="usual"
                    x={at(least)}
                    width={Math.max(1, at(most) - at(least))}
                    y="0"
                    height={height}
                />
            ))}
            {counts.map((count, i) => (
                <rect
                    class="count"
                    x={(i * width) / columns}
                    width={width / columns - 0.5}
                    y={height - (height * Math.sqrt(count)) / highest}
                    height={(height * Math.sqrt(count)) / highest}
                />
            ))}
            {looked.value && looked.value.func === model.short_name && (
                <rect
                    class="looked"
                    x={at(looked.value.exclusive_ns)}
                    width="2"
                    y="0"
                    height={height}
                />
            )}
        </svg>
    );
}

export function LiveModelView() {
    const names = [...regionNames.value.values()];
    const region = modelRegion.value ?? names[0]?.region ?? null;
    const model = useResource(
        region === null ? null : `model ${region} ${shown.value}`,
        (abort) => getJson<LiveModel>(`/live/model?region=${region}`, abort),
        true,
    );
    return (
        <LivePanel
            name="model"
            title="Model"
            tools={
                <Choice
                    label="Region of the model"
                    value={String(region ?? "")}
                    options={names.map((r): [string, string] => [
                        String(r.region),
                        r.short_name,
                    ])}
                    choose={(v) => (modelRegion.value = Number(v))}
                />
            }
        >
            {region === null ? (
                <Empty>There is nothing yet.</Empty>
            ) : (
                <Await of={model} what="the model" empty="There is nothing yet.">
                    {(value) => (
                        <>
                            <Histogram model={value} />
                            <p class="dim live-note">
                                {plural(value.calls, "call")}, {formatTime(value.median_ns)}{" "}
                                (median), {formatTime(value.mean_ns)} ±{" "}
                                {formatTime(value.deviation_ns)};{" "}
                                {value.usual_ns.length
                                    ? `usual by ${value.detector}: ${value.usual_ns
                                          .map(([a, b]) =>
                                              b < 1e18
                                                  ? `${formatTime(a)} to ${formatTime(b)}`
                                                  : `from ${formatTime(a)}`,
                                          )
                                          .join(", ")}`
                                    : "not judged"}
                            </p>
                        </>
                    )}
                </Await>
            )}
        </LivePanel>
    );
}
