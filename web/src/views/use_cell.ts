// The cell of a heat map that the pointer or the keys are on. Keys come faster than the page is drawn: each goes on from
// where the one before led, which `now` says.
import { useRef, useState } from "preact/hooks";
import { Cell } from "../canvas/heat";

export function useCell(): {
    cell: Cell | null;
    now: () => Cell | null;
    set: (to: Cell | null) => void;
} {
    const [cell, setCell] = useState<Cell | null>(null);
    const last = useRef<Cell | null>(null);
    const set = (to: Cell | null) => {
        last.current = to;
        setCell(to);
    };
    return { cell, now: () => last.current, set };
}
