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

/* "56 times as much as in its like"; of what is missing here there is no factor. */
function factor(importance: number): string {
    const times = Math.exp(Math.abs(importance));
    return `${times < 9.95 ? times.toFixed(1) : formatMean(times)}× ${importance < 0 ? "less" : "more"}`;
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
                    <b>{factor(of.importance)}</b>
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
                More or less of than in the ten executions most like it
            </h3>
            <ul class="paths subtrees">
                {kept.map((s) => (
                    <Line key={`${s.subtree}/${s.degree}`} of={s} most={most} />
                ))}
            </ul>
        </section>
    );
}
