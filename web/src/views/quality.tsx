// How good the trace is: what was damaged, skipped or repaired, and how well the clocks agree.
import { Clocks, Quality } from "../api/types";
import { locationName } from "../format/ids";
import { formatCount, formatTime, plural } from "../format/units";
import { run } from "../state/store";
import { NotFiltered } from "./filters";
import { Panel } from "./panel";
import { usePicture, useTable } from "./pictures";
import { tableFigure } from "./table_figure";

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

const columns = [
    { title: "What", isWords: true, text: (q: Quality) => q.text },
    { title: "Where", isWords: true, text: whereOf },
    { title: "How many", text: (q: Quality) => formatCount(q.count) },
    { title: "Damage", isWords: true, text: (q: Quality) => (q.is_damage ? "yes" : "no") },
];

export function QualityView() {
    const of = run.value!;
    const damage = of.quality.filter((q) => q.is_damage);
    const rows = [...damage, ...of.quality.filter((q) => !q.is_damage)];
    const state = damage.length
        ? `▲ The trace is damaged in ${plural(damage.length, "way")}. It was read as far as it goes.`
        : "The trace is not damaged.";
    useTable("quality", () => ({
        head: ["kind", "where", "count", "is_damage", "text"],
        rows: rows.map((q) => [q.kind, whereOf(q), q.count, q.is_damage, q.text]),
    }));
    usePicture("quality", () => ({
        ...(of.quality.length
            ? tableFigure(columns, rows)
            : { width: 0, height: 0, content: "" }),
        notes: [state, clockText(of.clocks)],
    }));
    return (
        <Panel name="quality">
            <div class="table" tabIndex={0} role="region" aria-label="Quality of the trace">
                <p class={damage.length ? "damaged" : ""}>{state}</p>
                <p>{clockText(of.clocks)}</p>
                {of.quality.length > 0 && (
                    <table>
                        <thead>
                            <tr>
                                {columns.map(({ title, isWords }) => (
                                    <th scope="col" class={isWords ? "words" : ""}>
                                        {title}
                                    </th>
                                ))}
                            </tr>
                        </thead>
                        <tbody>
                            {rows.map((q) => (
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
                <NotFiltered>Of the whole run.</NotFiltered>
                <p class="dim">
                    {of.trace} ({of.source}), {plural(of.n_calls, "call")},{" "}
                    {formatCount(of.n_messages)} sends and receives on{" "}
                    {plural(of.locations.length, "location")},{" "}
                    {formatTime(of.end_ns - of.begin_ns)}; analysed {of.created} by snag{" "}
                    {of.snag}.
                </p>
            </div>
        </Panel>
    );
}
