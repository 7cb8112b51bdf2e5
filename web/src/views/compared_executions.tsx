// Executions behind a call path that changed: of each run those that were there longest, as links to
// the page of that run.
import { executionId } from "../format/ids";
import { formatCalls } from "../format/change";
import { formatCount, formatTime, plural } from "../format/units";

export interface ListedExecution {
    tree: number;
    rank: number;
    thread: number;
    index: number;
    duration_ns: number;
    time_ns: number /* on the path */;
    calls: number;
}

/* A link to the execution on the page of its run, with the path marked. */
export function executionLink(page: string, tree: number, path: string[] | null): string {
    const hash = new URLSearchParams({ tree: String(tree) });
    if (path) hash.set("mark", JSON.stringify(path));
    return `${page}#${hash}`;
}

export function PathExecutions(props: {
    title: string;
    page: string | null;
    path: string[];
    n: number /* executions of the run */;
    nWith: number /* that have the path */;
    rows: ListedExecution[];
    show?: (tree: number) => void /* beside its counterpart */;
}) {
    const { page, path, rows, show } = props;
    return (
        <section class="path-executions">
            <h3>{props.title}</h3>
            <p class="dim">
                {formatCount(props.nWith)} of {plural(props.n, "execution")} have it
                {rows.length > 0 && rows.length < props.nWith && "; longest there"}
            </p>
            {rows.length > 0 && (
                <ol>
                    {rows.map((x) => {
                        const id = executionId(x.rank, x.thread, x.index);
                        return (
                            <li key={x.tree}>
                                {page ? (
                                    <a href={executionLink(page, x.tree, path)}>{id}</a>
                                ) : (
                                    id
                                )}{" "}
                                {formatTime(x.time_ns)} of {formatTime(x.duration_ns)},{" "}
                                {formatCalls(x.calls)} {x.calls === 1 ? "call" : "calls"}
                                {show && (
                                    <button
                                        class="quiet"
                                        aria-label={`${id} in both timelines`}
                                        title="In both timelines, beside the other run's of the same rank and number"
                                        onClick={() => show(x.tree)}
                                    >
                                        ⇅
                                    </button>
                                )}
                            </li>
                        );
                    })}
                </ol>
            )}
        </section>
    );
}
