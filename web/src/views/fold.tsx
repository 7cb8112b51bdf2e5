// The columns at the sides of the page: what folds one away, and what brings it back.
import { runKeys } from "../state/keys";
import { Column, fold, isFolded, room } from "../state/panes";

const signs: Record<Column, string> = { list: "«", details: "»" };

/* None where all stands in one column. */
export function FoldButton({ column }: { column: Column }) {
    if (room.value === "stacked") return null;
    return (
        <button
            class="quiet"
            aria-label={`Fold the ${column}`}
            title={`Fold the ${column} away (${runKeys.keyOf(column)})`}
            onClick={() => fold(column, true)}
        >
            {signs[column]}
        </button>
    );
}

export function Folded({ column, says }: { column: Column; says: string }) {
    if (!isFolded(column)) return null;
    return (
        <button
            class="folded"
            title={`Show the ${column} again (${runKeys.keyOf(column)})`}
            onClick={() => fold(column, false)}
        >
            {says}
        </button>
    );
}
