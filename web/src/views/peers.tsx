// The selected execution beside others: those of its rank and thread, and those with its number elsewhere; of
// all its time, and of the call paths that lost most.
import { getBundle } from "../api/http";
import { PathShare, Shown } from "../api/types";
import { locationName } from "../format/ids";
import { formatTime, plural } from "../format/units";
import { shortPath } from "../state/names";
import { medianOf } from "../canvas/median";
import { Beside, besideOf } from "../state/peers";
import { useQuery } from "../state/query";
import { details, executions, foi, typicalNow } from "../state/store";
import { useMemo } from "preact/hooks";

const mostCalls = 3e7; /* of all executions: each path that is asked for reads all of them */

function useBeside(of: Shown): Beside | null {
    const known = details.value;
    return useMemo(() => known && besideOf(known, of.tree), [known, of.tree]);
}

/* undefined: it is on its way, and has its place. */
function Row({ what, ns }: { what: string; ns: number | null | undefined }) {
    if (ns === null) return null;
    return (
        <tr>
            <th scope="row">{what}</th>
            <td>{ns === undefined ? "..." : formatTime(ns)}</td>
        </tr>
    );
}

export function AgainstPeers({ of }: { of: Shown }) {
    const beside = useBeside(of);
    const all = executions.value;
    const median = (trees: number[] | undefined) =>
        trees && all ? medianOf(trees.map((t) => all.duration_ns[t])) : undefined;
    const several = (trees: number[] | undefined, what: string) =>
        trees ? plural(trees.length, what) : `the ${what}s`;
    const { own, then, where = "other rank" } = beside ?? {};
    return (
        <section>
            <h3>Beside the others</h3>
            <table class="peer-times">
                <tbody>
                    <Row what="this one" ns={of.duration_ns} />
                    <Row what={typicalNow.value.onRank} ns={of.usual_duration_ns} />
                    <Row
                        what={`median of ${several(own, "other")} on ${locationName(of.rank, of.thread)}`}
                        ns={median(own)}
                    />
                    <Row
                        what={`median of execution ${of.index} on ${several(then, where)}`}
                        ns={median(then)}
                    />
                </tbody>
            </table>
        </section>
    );
}

/* Time on a path in every execution that has it, by tree. */
async function loadTimes(path: string[], id: number): Promise<Map<number, number>> {
    const said = encodeURIComponent(path.join(" > "));
    const { columns } = await getBundle(`/fois/${id}/path?path=${said}`);
    const times = new Map<number, number>();
    columns.tree.forEach((tree, i) => times.set(tree, columns.time_ns[i]));
    return times;
}

/* How long the others were on a path of it. */
export function PathBeside({ of, path }: { of: Shown; path: PathShare }) {
    const beside = useBeside(of);
    const id = foi.value?.id;
    const names = shortPath(path.path);
    const isShown = id !== undefined && foi.value!.vertices <= mostCalls;
    const { value: times, error } = useQuery(
        isShown && beside ? `${id} ${names.join(" > ")}` : null,
        () => loadTimes(names, id!),
    );
    if (!isShown || error) return null;
    // Its words are there before its numbers are: what stands below does not move when these come.
    const median = (trees: number[] | undefined): string | null => {
        if (!trees) return "... ms";
        if (!trees.length) return null;
        return times ? formatTime(medianOf(trees.map((t) => times.get(t) ?? 0))!) : "... ms";
    };
    const others = times && beside?.own?.map((t) => times.get(t) ?? 0);
    // Then it is no reason: calls of a path are judged one by one, and together they are always so here.
    const isAsLong =
        path.excess_ns > 0 && others?.length && medianOf(others)! >= 0.99 * path.exclusive_ns;
    const [own, then] = [median(beside?.own), median(beside?.then)];
    const words = [
        own !== null &&
            `otherwise on ${locationName(of.rank, of.thread)}: ${own}${isAsLong ? ", as long or longer" : ""}`,
        then !== null && `execution ${of.index} on ${beside?.where ?? "other rank"}s: ${then}`,
    ].filter(Boolean);
    return words.length ? <small class="beside">{words.join("; ")}</small> : null;
}
