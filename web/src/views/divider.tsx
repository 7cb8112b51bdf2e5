// A border that can be dragged: by mouse and by touch, and with the arrow keys, Home and End; a double click, or
// Enter, makes it as it was.
import { CSSProperties } from "preact";
import { useRef, useState } from "preact/hooks";

const step = 26; /* units, of an arrow key */

interface DividerProps {
    direction: "row" | "column"; /* of what it divides */
    label: string; /* "Width of the list" */
    controls: string; /* ids */
    now: number; /* units, of what is before it */
    least: number;
    most: number;
    scale: number; /* pixels of the page per unit */
    style?: CSSProperties;
    set: (size: number) => void;
    reset: () => void;
    keep: () => void; /* it stays as it is now */
}

export function PaneDivider(props: DividerProps) {
    const { direction, now, least, most, scale, set, reset, keep } = props;
    const isRow = direction === "row";
    const from = useRef<{ at: number; size: number } | null>(null);
    const [isHeld, setHeld] = useState(false);
    const placeOf = (event: PointerEvent) => (isRow ? event.clientX : event.clientY);
    const clamp = (size: number) => Math.min(Math.max(size, least), most);
    const keys: Record<string, () => void> = {
        [isRow ? "ArrowLeft" : "ArrowUp"]: () => set(clamp(now - step)),
        [isRow ? "ArrowRight" : "ArrowDown"]: () => set(clamp(now + step)),
        Home: () => set(least),
        End: () => set(most),
        Enter: reset,
    };
    const end = () => {
        if (!from.current) return;
        from.current = null;
        setHeld(false);
        keep();
    };
    return (
        <div
            class={`divider divides-${direction}${isHeld ? " held" : ""}`}
            role="separator"
            tabIndex={0}
            aria-orientation={isRow ? "vertical" : "horizontal"}
            aria-label={props.label}
            aria-controls={props.controls}
            aria-valuenow={Math.round(now)}
            aria-valuemin={Math.round(least)}
            aria-valuemax={Math.round(most)}
            title="Drag, or use the arrow keys; a double click makes it as it was"
            style={props.style}
            onPointerDown={(event) => {
                if (event.button !== 0) return;
                event.currentTarget.setPointerCapture(event.pointerId);
                from.current = { at: placeOf(event), size: now };
                setHeld(true);
            }}
            onPointerMove={(event) => {
                const began = from.current;
                if (began) set(clamp(began.size + (placeOf(event) - began.at) / scale));
            }}
            onPointerUp={end}
            onPointerCancel={end}
            onDblClick={() => {
                reset();
                keep();
            }}
            onKeyDown={(event) => {
                const act = keys[event.key];
                if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
                event.preventDefault();
                event.stopPropagation();
                act();
                keep();
            }}
        />
    );
}
