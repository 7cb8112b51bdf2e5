// Time per execution from run to run: a point per run, a line per stretch between the points where it
// changed, and of the whole the median beside it.
import { scaleLinear } from "d3-scale";
import { useRef } from "preact/hooks";
import { Trend, TrendSeries } from "../api/compare_types";
import { labelStep, spanOf, stretchesOf } from "../canvas/trend_layout";
import { changeColour, formatChange } from "../format/change";
import { css } from "../format/colour";
import { formatTime } from "../format/units";
import { pictureOfSvg, usePicture } from "./pictures";
import { useSize } from "./use_size";

const margin = { left: 62, right: 14, top: 22, bottom: 34 };

function describe(trend: Trend, series: TrendSeries): string {
    const changed = stretchesOf(series)
        .filter((s) => s.change !== null)
        .map((s) => `${formatChange(s.change)} with number ${trend.runs[s.from].number}`);
    return (
        `${series.path}: ${trend.runs.length} runs, from ${formatTime(series.ns[0])} ` +
        `to ${formatTime(series.ns[series.ns.length - 1])} in an execution; ` +
        (changed.length ? `changed ${changed.join(", ")}` : "no change is marked")
    );
}

interface TrendProps {
    trend: Trend;
    series: TrendSeries;
    chosen: number | null /* the number of a run */;
    choose?: (run: number) => void;
}

/* `scale` pixels of the page per unit. */
export function TrendPicture(
    props: TrendProps & { width: number; height: number; scale: number },
) {
    const { trend, series, chosen, choose, width, height, scale } = props;
    const isWhole = series === trend.series[0];
    const medians = isWhole ? trend.runs.map((run) => run.median_ns) : [];
    const n = trend.runs.length;
    const x = scaleLinear()
        .domain([-0.5, n - 0.5])
        .range([margin.left, Math.max(margin.left + 1, width - margin.right)]);
    const y = scaleLinear()
        .domain(spanOf([...series.ns, ...medians]))
        .range([Math.max(margin.top + 1, height - margin.bottom), margin.top]);
    const step = labelStep(n, width - margin.left - margin.right, 34);
    const line = (values: number[]) =>
        values.map((ns, i) => `${i ? "L" : "M"}${x(i)},${y(ns)}`).join("");
    return (
        <svg
            width={width * scale}
            height={height * scale}
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={describe(trend, series)}
        >
            {y.ticks(Math.max(2, Math.floor(height / 45))).map((ns) => (
                <g class="tick">
                    <line x1={margin.left} x2={width - margin.right} y1={y(ns)} y2={y(ns)} />
                    <text x={margin.left - 6} y={y(ns) + 4} text-anchor="end">
                        {formatTime(ns)}
                    </text>
                </g>
            ))}
            {trend.runs.map(
                (run, i) =>
                    i % step === 0 && (
                        <text
                            class="tick"
                            x={x(i)}
                            y={height - margin.bottom + 15}
                            text-anchor="middle"
                        >
                            {run.number}
                        </text>
                    ),
            )}
            <text
                class="tick"
                x={(margin.left + width - margin.right) / 2}
                y={height - 4}
                text-anchor="middle"
            >
                number of the run
            </text>
            {isWhole && <path class="median" d={line(medians)} />}
            <path class="series" d={line(series.ns)} />
            {(series.changes.length ? stretchesOf(series) : []).map((s) => (
                <g>
                    {s.change !== null && (
                        <>
                            <line
                                class="change-point"
                                x1={x(s.from - 0.5)}
                                x2={x(s.from - 0.5)}
                                y1={margin.top - 4}
                                y2={height - margin.bottom}
                            />
                            <text
                                class="change-text"
                                x={x(s.from - 0.5)}
                                y={margin.top - 8}
                                text-anchor={s.from > n / 2 ? "end" : "start"}
                            >
                                {s.change < 0 ? "▼" : "▲"} {formatChange(s.change)}
                            </text>
                        </>
                    )}
                    <line
                        class="stretch"
                        x1={x(s.from - 0.4)}
                        x2={x(s.to + 0.4)}
                        y1={y(s.mean_ns)}
                        y2={y(s.mean_ns)}
                        stroke={css(changeColour(s.change ?? 0))}
                    />
                </g>
            ))}
            {trend.runs.map((run, i) => (
                <circle
                    class={`trend-point${run.number === chosen ? " chosen" : ""}`}
                    cx={x(i)}
                    cy={y(series.ns[i])}
                    r={run.number === chosen ? 6 : 4}
                    onClick={choose && (() => choose(run.number))}
                >
                    <title>
                        number {run.number}, {run.run}: {formatTime(series.ns[i])}
                        {isWhole && `, median ${formatTime(run.median_ns)}`}
                        {Object.entries(run.tags).map(([key, value]) => `, ${key}=${value}`)}
                    </title>
                </circle>
            ))}
        </svg>
    );
}

export function TrendChart(props: TrendProps) {
    const box = useRef<HTMLDivElement>(null);
    const { width, height, scale } = useSize(box);
    usePicture("trend", () => pictureOfSvg(box.current!.querySelector("svg")!));
    return (
        <div class="trend-chart" ref={box}>
            {width > 0 && <TrendPicture {...props} {...{ width, height, scale }} />}
        </div>
    );
}
