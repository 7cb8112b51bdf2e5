// What counters read so far.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getJson } from "../api/http";
import { LiveCounter, LiveList } from "../api/live_types";
import { formatCount, formatValue } from "../format/units";
import { shown } from "../state/live";
import { useQuery } from "../state/query";
import { LivePanel } from "./live_panel";
import { Await } from "./panel";

const titles = ["Counter", "Values", "Last", "On rank", "Mean", "Least", "Most"];

export const countersRead = signal(0); /* how many there are */

function Table({ items }: { items: LiveCounter[] }) {
    return (
        <table class="live-table">
            <thead>
                <tr>
                    {titles.map((title) => (
                        <th>{title}</th>
                    ))}
                </tr>
            </thead>
            <tbody>
                {items.map((c) => (
                    <tr>
                        <td>{c.name}</td>
                        <td class="number">{formatCount(c.count)}</td>
                        <td class="number">{formatValue(c.last)}</td>
                        <td class="number">{c.last_rank}</td>
                        {[c.mean, c.minimum, c.maximum].map((x) => (
                            <td class="number">{formatValue(x)}</td>
                        ))}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

export function LiveCounters() {
    const counters = useQuery(
        "counters",
        (abort) => getJson<LiveList<LiveCounter>>("/live/counters", abort),
        shown.value,
        true,
    );
    const n = counters.value?.items.length ?? 0;
    useEffect(() => {
        countersRead.value = n;
    }, [n]);
    return (
        <LivePanel name="counters" title="Counters">
            <Await of={counters} what="the counters" empty="There are none.">
                {({ items }) =>
                    items.length ? (
                        <Table items={items} />
                    ) : (
                        <p class="dim">The program has read no counters.</p>
                    )
                }
            </Await>
        </LivePanel>
    );
}
