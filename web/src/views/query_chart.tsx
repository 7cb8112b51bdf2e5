// A number for each name as bars, or over another number as a line or points: what a query found, drawn.
import { scaleLinear } from "d3-scale";
import { RefObject } from "preact";
import { domainOf, QueryChart } from "../canvas/query_chart";
import { formatBytes, formatTime, formatValue } from "../format/units";
import { useSize } from "./use_size";

const margin = { left: 72, right: 16, top: 12, bottom: 40 };
const bar = { high: 14, mostNames: 268, perLetter: 6.4, values: 74 }; /* units */
const mostPoints = 3; /* units; the radius */

/* A value in the unit that the name of its column says. */
export function valueText(column: string, value: number): string {
    if (/_ns$/i.test(column)) return formatTime(value);
    if (/bytes$/i.test(column)) return formatBytes(value);
    return formatValue(value);
}

function barsHeight({ y }: QueryChart): number {
    return y.values.length * bar.high + 24;
}

function Bars({ of, width }: { of: QueryChart; width: number }) {
    const { x: names, y } = of;
    const height = barsHeight(of);
    const longest = Math.max(...names.values.map((name) => String(name).length));
    const left = Math.min(bar.mostNames, 12 + longest * bar.perLetter);
    const wide = Math.max(40, width - left - bar.values);
    const x = scaleLinear(domainOf(y.values, true), [left, left + wide]);
    return (
        <>
            <text class="axis-title" x={left} y={12}>
                {y.title} by {names.title}
            </text>
            {y.values.map((value, i) => {
                const [from, to] = [x(0), x(value)].sort((a, b) => a - b);
                const middle = 20 + (i + 0.5) * bar.high;
                return (
                    <g>
                        <title>
                            {names.values[i]}: {valueText(y.title, value)}
                        </title>
                        <text x={left - 6} y={middle + 4} text-anchor="end">
                            {names.values[i]}
                        </text>
                        <rect
                            class="query-bar"
                            x={from}
                            width={Math.max(to - from, 0.5)}
                            y={middle - bar.high / 2 + 1}
                            height={bar.high - 2}
                        />
                        <text x={to + 5} y={middle + 4}>
                            {valueText(y.title, value)}
                        </text>
                    </g>
                );
            })}
            <line class="axis" x1={x(0)} x2={x(0)} y1={20} y2={height - 4} />
        </>
    );
}

function Plot({ of, width, height }: { of: QueryChart; width: number; height: number }) {
    const { x: across, y: up, kind } = of;
    const xs = across.values.map(Number);
    const right = Math.max(margin.left + 40, width - margin.right);
    const bottom = height - margin.bottom;
    const x = scaleLinear(domainOf(xs, false), [margin.left, right]);
    const y = scaleLinear(domainOf(up.values, false), [bottom, margin.top]);
    const n = Math.max(2, Math.floor((right - margin.left) / 90));
    return (
        <>
            {y.ticks(Math.max(2, Math.floor((bottom - margin.top) / 40))).map((value) => (
                <g class="tick">
                    <line x1={margin.left} x2={right} y1={y(value)} y2={y(value)} />
                    <text x={margin.left - 6} y={y(value) + 4} text-anchor="end">
                        {valueText(up.title, value)}
                    </text>
                </g>
            ))}
            {x.ticks(n).map((value) => (
                <text class="tick" x={x(value)} y={bottom + 15} text-anchor="middle">
                    {valueText(across.title, value)}
                </text>
            ))}
            <text class="axis-title" x={(margin.left + right) / 2} y={height - 6}>
                {across.title}
            </text>
            <text class="axis-title" x={margin.left} y={margin.top - 2}>
                {up.title}
            </text>
            {kind === "line" && (
                <path
                    class="query-line"
                    d={xs
                        .map((value, i) => `${i ? "L" : "M"}${x(value)},${y(up.values[i])}`)
                        .join("")}
                />
            )}
            {xs.map((value, i) => (
                <circle class="query-point" cx={x(value)} cy={y(up.values[i])} r={mostPoints}>
                    <title>
                        {valueText(across.title, value)}: {valueText(up.title, up.values[i])}
                    </title>
                </circle>
            ))}
        </>
    );
}

export function QueryPicture({ of, box }: { of: QueryChart; box: RefObject<HTMLDivElement> }) {
    const { width, height: room, scale } = useSize(box);
    const isBars = of.kind === "bars";
    const height = isBars ? barsHeight(of) : Math.max(140, room);
    return (
        <div class="query-chart" ref={box} tabIndex={0} role="region" aria-label="Chart">
            {width > 0 && (
                <svg
                    width={width * scale}
                    height={height * scale}
                    viewBox={`0 0 ${width} ${height}`}
                    role="img"
                    aria-label={`${of.y.title} by ${of.x.title}, ${of.y.values.length} values; the table has them as numbers`}
                >
                    {isBars ? (
                        <Bars of={of} width={width} />
                    ) : (
                        <Plot of={of} width={width} height={height} />
                    )}
                </svg>
            )}
        </div>
    );
}
