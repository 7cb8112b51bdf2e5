// What counters read so far.
import { getJson } from "../api/http";
import { LiveCounter, LiveList } from "../api/live_types";
import { formatCount } from "../format/units";
import { shown, status } from "../state/live";
import { useResource } from "../state/resource";
import { LivePanel } from "./live_panel";
import { Await } from "./panel";

export function LiveCounters() {
    const counters = useResource(
        `counters ${shown.value}`,
        (abort) => getJson<LiveList<LiveCounter>>("/live/counters", abort),
        true,
    );
    if (!status.value || !counters.value?.items.length) return null;
    return (
        <LivePanel name="counters" title="Counters">
            <Await of={counters} what="the counters" empty="There are none.">
                {({ items }) => (
                    <table class="live-table">
                        <thead>
                            <tr>
                                {["Counter", "Values", "Last", "Mean", "Least", "Most"].map(
                                    (t) => (
                                        <th>{t}</th>
                                    ),
                                )}
                            </tr>
                        </thead>
                        <tbody>
                            {items.map((c) => (
                                <tr>
                                    <td>{c.name}</td>
                                    {[c.count, c.last, c.mean, c.minimum, c.maximum].map(
                                        (x) => (
                                            <td class="number">{formatCount(x)}</td>
                                        ),
                                    )}
                                </tr>
                            ))}
                        </tbody>
                    </table>
                )}
            </Await>
        </LivePanel>
    );
}
