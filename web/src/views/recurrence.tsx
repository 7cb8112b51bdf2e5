// When in the run something was, as a strip: a mark for each time.
import { formatTime, plural } from "../format/units";
import { run } from "../state/store";

const mostMarks = 240; /* places along the strip: what is nearer than that is one mark */

export function Recurrence({ begins }: { begins: ArrayLike<number> }) {
    const { begin_ns = 0, end_ns = 1 } = run.value ?? {};
    const all = Array.from(begins);
    const length = Math.max(1, end_ns - begin_ns);
    const marks = new Set(all.map((at) => Math.floor((mostMarks * (at - begin_ns)) / length)));
    const [first, last] = [Math.min(...all), Math.max(...all)];
    const says = `${plural(all.length, "time")}, from ${formatTime(first)} to ${formatTime(last)} of the run's ${formatTime(length)}`;
    return (
        <svg
            class="recurrence"
            viewBox={`0 0 ${mostMarks} 1`}
            preserveAspectRatio="none"
            role="img"
            aria-label={says}
        >
            <title>{says}</title>
            {[...marks].map((x) => (
                <rect key={x} x={Math.min(x, mostMarks - 2)} width="2" height="1" />
            ))}
        </svg>
    );
}
