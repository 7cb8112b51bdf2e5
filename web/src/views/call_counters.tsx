// What counters say of the selected call, as a table: what it added, or what was read at its borders or nearest to them.
import { CallAt, CallCounter } from "../api/types";
import { formatNumber, rangeWords, readWords, unitOf } from "../format/counter_words";
import { formatValue, ifKnown, plural } from "../format/units";
import { nameOfLocation } from "./timeline_scene";

function Numbers({ of }: { of: CallCounter }) {
    const own = ifKnown(of.own, formatNumber);
    return (
        <>
            <td>{formatNumber(of.inclusive!)}</td>
            <td title={of.own === null ? "what it called was not read at its borders" : ""}>
                {own}
            </td>
            <td>{of.per_s === null ? "" : formatValue(of.per_s)}</td>
        </>
    );
}

function Words({ of, call }: { of: CallCounter; call: CallAt }) {
    const range = rangeWords(of);
    return (
        <td colSpan={3} class="words">
            {readWords(of, call)}
            {range && <span class="dim"> ({range})</span>}
        </td>
    );
}

function Row({ of, call }: { of: CallCounter; call: CallAt }) {
    return (
        <tr>
            <th scope="row">
                {of.name} <span class="dim">{unitOf(of)}</span>
                {of.location !== null && (
                    <span class="dim" title="read for the whole process, or its node">
                        {" "}
                        ({nameOfLocation(of.location)})
                    </span>
                )}
            </th>
            {of.inclusive === null ? <Words of={of} call={call} /> : <Numbers of={of} />}
        </tr>
    );
}

export function CallCounters({ of }: { of: CallAt }) {
    const more = of.n_counters - of.counters.length;
    return (
        <div class="call-counters" tabIndex={0} role="region" aria-label="Counters of the call">
            <table>
                <thead>
                    <tr>
                        <th scope="col">Counter</th>
                        <th scope="col" title="added by the call, with what it called">
                            Inclusive
                        </th>
                        <th scope="col" title="added by the call, without what it called">
                            Own
                        </th>
                        <th scope="col" title="inclusive, by its time">
                            Per second
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {of.counters.map((counter) => (
                        <Row of={counter} call={of} />
                    ))}
                </tbody>
            </table>
            {more > 0 && <p class="dim">and {plural(more, "more counter")}</p>}
        </div>
    );
}
