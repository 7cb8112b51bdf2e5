// How good the trace is: what was damaged, skipped or repaired, and how well the clocks agree.
import { Clocks, Quality } from "../api/types";
import { locationName } from "../format/ids";
import { formatCount, formatTime, plural } from "../format/units";
import { run } from "../state/store";
import { Panel } from "./panel";

function whereOf(q: Quality): string {
    const place = run.value?.locations.find((l) => l.id === q.location);
    return place ? locationName(place.rank, place.thread) : "the trace";
}

function clockText(clocks: Clocks | null | undefined): string {
    if (!clocks || !clocks.checked)
        return "Clocks could not be compared: there are no messages to compare them by.";
    const found = `${plural(clocks.checked, "message or collective", "messages and collectives")} checked`;
    const worst = clocks.worst_ns ? `, by ${formatTime(clocks.worst_ns)} at most` : "";
    const wrong = clocks.wrong
        ? `; ${formatCount(clocks.wrong)} in an impossible order${worst}`
        : ": all in a possible order";
    const mended = clocks.corrected_ranks
        ? `. The clocks of ${plural(clocks.corrected_ranks, "rank")} were corrected by an estimate`
        : "";
    return `${found}${wrong}${mended}.`;
}

export function QualityView() {
    const of = run.value!;
    const damage = of.quality.filter((q) => q.is_damage);
    return (
        <Panel name="quality">
            <div class="table" tabIndex={0} role="region" aria-label="Quality of the trace">
                <p class={damage.length ? "damaged" : ""}>
                    {damage.length
                        ? `▲ The trace is damaged in ${plural(damage.length, "way")}. It was read as far as it goes.`
                        : "The trace is not damaged."}
                </p>
                <p>{clockText(of.clocks)}</p>
                {of.quality.length > 0 && (
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">What</th>
                                <th scope="col">Where</th>
                                <th scope="col">How many</th>
                                <th scope="col">Damage</th>
                            </tr>
                        </thead>
                        <tbody>
                            {of.quality.map((q) => (
                                <tr>
                                    <th scope="row">{q.text}</th>
                                    <td class="words">{whereOf(q)}</td>
                                    <td>{formatCount(q.count)}</td>
                                    <td class="words">{q.is_damage ? "yes" : "no"}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                )}
                <p class="dim">
                    {of.trace} ({of.source}), {plural(of.n_calls, "call")},{" "}
                    {plural(of.n_messages, "message")} on{" "}
                    {plural(of.locations.length, "location")},{" "}
                    {formatTime(of.end_ns - of.begin_ns)}; analysed {of.created} by snag{" "}
                    {of.snag}.
                </p>
            </div>
        </Panel>
    );
}
