// The scatter plot of what is live, and its settings.
import { plural } from "../format/units";
import {
    chooseFoi,
    colourChosen,
    foiChosen,
    hiddenThere,
    missed,
    points,
    regionNames,
    samplingChosen,
    windowNs,
    xChosen,
    yChosen,
} from "../state/live";
import { Attribute } from "../state/store";
import { Choice, LivePanel } from "./live_panel";
import { LiveScatter } from "./live_scatter";

const axes: [Attribute, string][] = [
    ["enter_ns", "time"],
    ["duration_ns", "duration"],
    ["rank", "rank"],
    ["score", "score"],
    ["messages", "messages"],
    ["vertices", "calls in it"],
];
const windows: [string, string][] = [
    ["", "all of the time"],
    ["1e9", "last second"],
    ["1e10", "last 10 s"],
    ["6e10", "last minute"],
    ["6e11", "last 10 min"],
];

function Tools() {
    const names = [...regionNames.value.values()].sort((a, b) =>
        a.short_name.localeCompare(b.short_name),
    );
    return (
        <>
            <Choice
                label="Across"
                value={xChosen.value}
                options={axes}
                choose={(v) => (xChosen.value = v)}
            />
            <Choice
                label="Up"
                value={yChosen.value}
                options={axes}
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
                value={String(foiChosen.value ?? "")}
                options={[
                    ["", "all functions"],
                    ...names.map((r): [string, string] => [String(r.region), r.short_name]),
                ]}
                choose={(v) => chooseFoi(v === "" ? null : Number(v))}
            />
            <Choice
                label="Time"
                value={
                    windowNs.value === null
                        ? ""
                        : windowNs.value.toExponential().replace("+", "")
                }
                options={windows}
                choose={(v) => (windowNs.value = v === "" ? null : Number(v))}
            />
            <label title="Share of the normal ones that is drawn; anomalies always are">
                normal{" "}
                <input
                    type="range"
                    min="0"
                    max="100"
                    value={samplingChosen.value}
                    aria-label="Share of the normal points, in percent"
                    onInput={(event) =>
                        (samplingChosen.value = Number(event.currentTarget.value))
                    }
                />
            </label>
        </>
    );
}

export function LivePointsView() {
    const all = points.value!;
    return (
        <LivePanel name="points" title="Calls" tools={<Tools />}>
            <LiveScatter all={all} />
            <p class="dim live-note">
                {plural(all.n, "point")}
                {hiddenThere.value > 0 &&
                    `; ${plural(hiddenThere.value, "normal one")} thinned out`}
                {missed.value > 0 &&
                    `; ${plural(missed.value, "one")} forgotten before they came here`}
            </p>
        </LivePanel>
    );
}
