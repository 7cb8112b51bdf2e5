// The scatter plot of what is live, and its settings.
import { formatCount, plural } from "../format/units";
import {
    chooseSpan,
    colourChosen,
    drawn,
    isChosen,
    kindChosen,
    pointsQuery,
    regionChosen,
    regionNames,
    samplingChosen,
    spanChosen,
    status,
    toggleRegion,
    windowNs,
    xChosen,
    yChosen,
} from "../state/live";
import { Choice, LivePanel } from "./live_panel";
import { LiveScatter } from "./live_scatter";
import { attributeOptions } from "./overview";
import { Await, Empty } from "./panel";

const windows: [string, string][] = [
    ["", "all of the time"],
    ["1e9", "last second"],
    ["1e10", "last 10 s"],
    ["6e10", "last minute"],
    ["6e11", "last 10 min"],
];

/* Calls only, where no functions of interest were named. */
function KindChoice() {
    if (!status.value?.fois.length) return null;
    return (
        <Choice
            label="Points are"
            value={kindChosen.value || (status.value.points.kind ?? "calls")}
            options={[
                ["executions", "executions"],
                ["calls", "calls"],
            ]}
            choose={(v) => (kindChosen.value = v)}
        />
    );
}

function windowText(): string {
    if (spanChosen.value) return "chosen";
    return windowNs.value === null ? "" : windowNs.value.toExponential().replace("+", "");
}

function Tools() {
    const names = [...regionNames.value.values()].sort((a, b) =>
        a.short_name.localeCompare(b.short_name),
    );
    return (
        <>
            <KindChoice />
            <Choice
                label="Across"
                value={xChosen.value}
                options={attributeOptions}
                choose={(v) => (xChosen.value = v)}
            />
            <Choice
                label="Up"
                value={yChosen.value}
                options={attributeOptions}
                choose={(v) => (yChosen.value = v)}
            />
            <Choice
                label="Colour"
                value={colourChosen.value}
                options={[
                    ["verdict", "by verdict"],
                    ["region", "by region"],
                    ["rank", "by rank"],
                    ["score", "by score"],
                ]}
                choose={(v) => (colourChosen.value = v)}
            />
            <Choice
                label="Function"
                value={String(regionChosen.value ?? "")}
                options={[
                    ["", "all functions"],
                    ...names.map((r): [string, string] => [String(r.region), r.short_name]),
                ]}
                choose={(v) => toggleRegion(v === "" ? null : Number(v))}
            />
            <Choice
                label="Time"
                value={windowText()}
                options={spanChosen.value ? [["chosen", "time chosen"], ...windows] : windows}
                choose={(v) => {
                    if (v === "chosen") return;
                    chooseSpan(null);
                    windowNs.value = v === "" ? null : Number(v);
                }}
            />
        </>
    );
}

function Share() {
    return (
        <label title="Share of the normal ones that is drawn; anomalies always are">
            normal ones drawn{" "}
            <input
                type="range"
                min="0"
                max="100"
                value={samplingChosen.value}
                aria-label="Share of the normal points, in percent"
                onInput={(event) => (samplingChosen.value = Number(event.currentTarget.value))}
            />{" "}
            {samplingChosen.value} %
        </label>
    );
}

function Shown() {
    const held = pointsQuery.answer.value.value;
    if (!held) return null;
    const { points: all, missed } = held;
    const { order, anomalies, unjudged } = drawn.value!;
    const hidden = held.hidden + all.n - order.length;
    const isExecutions = all.n > 0 && all.kind[0] === 1;
    // Of each step and function 64 calls at most become points, beside anomalies.
    const calls = isChosen.value || isExecutions ? null : status.value!.calls;
    const isSample = calls !== null && calls > all.n + held.hidden + missed;
    return (
        <span>
            {plural(order.length, isExecutions ? "execution" : "call")} drawn
            {isSample && ` as a sample of ${formatCount(calls)}`},{" "}
            <span class="strange-key">{plural(anomalies, "anomaly", "anomalies")}</span>{" "}
            outlined
            {unjudged > 0 && `; ${formatCount(unjudged)} too early to judge`}
            {hidden > 0 && !isSample && `; ${formatCount(hidden)} more not drawn`}
            {missed > 0 && `; ${formatCount(missed)} forgotten before they came`}
        </span>
    );
}

export function LivePointsView() {
    return (
        <LivePanel name="points" title="Points" tools={<Tools />}>
            <Await of={pointsQuery.answer.value} what="the points" empty="">
                {({ points: all }) =>
                    all.n ? (
                        <LiveScatter all={all} chosen={drawn.value!} />
                    ) : (
                        <Empty>
                            {isChosen.value
                                ? "No points of what is chosen."
                                : "No points yet: they come with the first step."}
                        </Empty>
                    )
                }
            </Await>
            <div class="sampling">
                <Shown />
                <Share />
            </div>
        </LivePanel>
    );
}
