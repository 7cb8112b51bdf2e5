// What judges the calls of a region: how long they take, and what is typical of that.
import { useRef } from "preact/hooks";
import { getJson } from "../api/http";
import { LiveModel } from "../api/live_types";
import { columnsOf, logScale, unionOf, usualText } from "../canvas/histogram";
import { formatTime, plural } from "../format/units";
import { areNamesComing, funcOf, looked, modelRegion, regionNames, shown } from "../state/live";
import { useQuery } from "../state/query";
import { Choice, LivePanel } from "./live_panel";
import { Await, Empty, Loading } from "./panel";
import { useSize } from "./use_size";

const bottom = 18; /* room for the axis */
const columnWidth = 5;
const tickRoom = 90;

function Histogram({ model }: { model: LiveModel }) {
    const box = useRef<HTMLDivElement>(null);
    const { width, height, scale } = useSize(box);
    const of = looked.value;
    const isOfIt = of !== null && of.kind === 0 && funcOf(of) === model.short_name;
    const own = !isOfIt ? null : model.is_inclusive ? of.duration_ns : of.exclusive_ns;
    const at = logScale(model, own === null ? [] : [own]);
    const x = (ns: number) => at.place(ns) * width;
    const counts = columnsOf(model, at, Math.max(10, Math.floor(width / columnWidth)));
    const highest = Math.sqrt(Math.max(...counts, 1));
    const room = Math.max(1, height - bottom);
    const each = width / counts.length;
    return (
        <div class="histogram" ref={box}>
            <svg
                width={width * scale}
                height={height * scale}
                viewBox={`0 0 ${Math.max(1, width)} ${Math.max(1, height)}`}
                role="img"
                aria-label={`How often which duration, from ${formatTime(model.minimum_ns)} to ${formatTime(model.maximum_ns)}`}
            >
                {model.usual_ns.map(([least, most]) => (
                    <>
                        <rect
                            class="usual"
                            x={x(least)}
                            width={Math.max(1, x(most) - x(least))}
                            y="0"
                            height={room}
                        />
                        {[least, most].map(
                            (end) =>
                                at.place(end) > 0.001 &&
                                at.place(end) < 0.999 && (
                                    <line
                                        class="threshold"
                                        x1={x(end)}
                                        x2={x(end)}
                                        y1="0"
                                        y2={room}
                                    />
                                ),
                        )}
                    </>
                ))}
                {counts.map((count, i) => {
                    const tall = (Math.max(0, room - 4) * Math.sqrt(count)) / highest;
                    return (
                        count > 0 && (
                            <rect
                                class="count"
                                x={i * each}
                                width={Math.max(1, each - 0.5)}
                                y={room - tall}
                                height={tall}
                            />
                        )
                    );
                })}
                {own !== null && (
                    <>
                        <rect
                            class="looked"
                            x={Math.min(x(own), width - 3)}
                            width="3"
                            y="0"
                            height={room}
                        />
                        <text
                            x={x(own) + (at.place(own) > 0.5 ? -5 : 7)}
                            y="11"
                            text-anchor={at.place(own) > 0.5 ? "end" : "start"}
                        >
                            this call
                        </text>
                    </>
                )}
                {at.ticks(Math.max(2, width / tickRoom)).map((ns) => (
                    <text
                        class="tick"
                        x={Math.min(Math.max(x(ns), 22), width - 26)}
                        y={height - 4}
                        text-anchor="middle"
                    >
                        {formatTime(ns)}
                    </text>
                ))}
            </svg>
        </div>
    );
}

function Words({ model }: { model: LiveModel }) {
    return (
        <p class="dim live-note">
            {plural(model.calls, "call")}, median {formatTime(model.median_ns)}, mean{" "}
            {formatTime(model.mean_ns)} ± {formatTime(model.deviation_ns)}.{" "}
            {model.usual_ns.length ? (
                <>
                    <span class="usual-key">Typical</span> by {model.detector}:{" "}
                    {usualText(model.usual_ns)}.
                </>
            ) : (
                "Not judged."
            )}{" "}
            Heights are square roots of counts.
        </p>
    );
}

export function LiveModelView() {
    const names = [...regionNames.value.values()];
    const region = modelRegion.value ?? names[0]?.region ?? null;
    const model = useQuery(
        region === null ? null : `model ${region}`,
        async (abort) => {
            const of = await getJson<LiveModel>(`/live/model?region=${region}`, abort);
            return { ...of, usual_ns: unionOf(of.usual_ns) };
        },
        shown.value,
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
                areNamesComing.value ? (
                    <Loading what="the functions" />
                ) : (
                    <Empty>There is nothing yet.</Empty>
                )
            ) : (
                <Await of={model} what="the model" empty="There is nothing yet.">
                    {(value) =>
                        value.calls ? (
                            <>
                                <Histogram model={value} />
                                <Words model={value} />
                            </>
                        ) : (
                            <Empty>No calls of it have been judged yet.</Empty>
                        )
                    }
                </Await>
            )}
        </LivePanel>
    );
}
