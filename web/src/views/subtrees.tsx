// What an execution has more or less of than its nearest neighbours: subtrees, as stack2vec sees them (paper 1
// of the method, section 5.3.1). Choosing one marks its calls.
import { getJson, orNull } from "../api/http";
import { Subtree } from "../api/types";
import { formatMean, formatTime, plural } from "../format/units";
import { areMarked, toggleCalls } from "../state/marks";
import { useQuery } from "../state/query";
import { foi, selected, whyThreshold } from "../state/store";
import { Failed, Loading } from "./panel";
import { keptSubtrees } from "./subtree_list";

/* The mean of the others: what is typical of its rank is another number. */
function inOthers(s: Subtree): string {
    if (s.usual_calls < 0.05) return "none in those";
    return `in those ${formatTime(s.usual_ns)} in ${formatMean(s.usual_calls)}`;
}

/* "4.2 × the time", of what lasts as long "2.0 × the calls"; of what is missing on one side there is no factor. */
function factor(of: Subtree): string {
    if (!of.calls) return "not here";
    if (of.usual_calls < 0.05) return "only here";
    const time = of.usual_ns > 0 ? of.inclusive_ns / of.usual_ns : 1;
    const isOfTime = time >= 1.1 || time <= 1 / 1.1;
    const times = isOfTime ? time : of.calls / of.usual_calls;
    return `${times < 9.95 ? times.toPrecision(2) : formatMean(times)} × the ${isOfTime ? "time" : "calls"}`;
}

function Line({ of, most }: { of: Subtree; most: number }) {
    const isMarked = of.vertices_here.length > 0 && areMarked(of.vertices_here);
    return (
        <li>
            <button
                aria-pressed={isMarked}
                disabled={!of.vertices_here.length}
                title={`${of.subtree}, root ${of.function}; importance ${of.importance.toFixed(2)}`}
                onClick={() => toggleCalls(of.vertices_here)}
            >
                <span class="bar-line">
                    <svg
                        class="bar"
                        viewBox="0 0 100 1"
                        preserveAspectRatio="none"
                        aria-hidden="true"
                    >
                        <rect width={(Math.abs(of.importance) / most) * 100} height="1" />
                    </svg>
                    <b>{factor(of)}</b>
                </span>
                <span class="path">{of.subtree}</span>
                <small>
                    {of.calls
                        ? `${formatTime(of.inclusive_ns)} in ${plural(of.calls, "call")}`
                        : "none here"}{" "}
                    ({inOthers(of)})
                </small>
            </button>
        </li>
    );
}

export function Subtrees() {
    const id = foi.value?.id;
    const tree = selected.value;
    const of = useQuery(id === undefined || tree === null ? null : `${id}/${tree}`, (abort) =>
        orNull(
            getJson<{ subtrees: Subtree[] }>(`/fois/${id}/executions/${tree}/subtrees`, abort),
        ),
    );
    if (of.isLoading) return <Loading what="the subtrees" />;
    if (of.error) return <Failed text={of.error} retry={of.retry} />;
    const { kept, most } = keptSubtrees(of.value?.subtrees ?? [], whyThreshold.value);
    if (!kept.length) return null;
    return (
        <section>
            <h3 title="At least twice or half as much of it as in those; of those: their mean">
                What it has more, or less, of than the executions most like it
            </h3>
            <ul class="paths subtrees">
                {kept.map((s) => (
                    <Line key={`${s.subtree}/${s.degree}`} of={s} most={most} />
                ))}
            </ul>
        </section>
    );
}
