// The small drawing of an execution: its call paths as bars, one line per depth, as wide as their
// share of the time. What lost the time is vermilion and outlined; nothing else has a strong colour.
import { SketchBar } from "../api/types";
import { placeBars } from "./sketch_layout";

export function Sketch(props: { bars: SketchBar[]; name: (region: number) => string }) {
    const boxes = placeBars(props.bars).filter((box) => box.depth < 5);
    const depths = Math.max(1, ...boxes.map((box) => box.depth + 1));
    return (
        <svg class="sketch" viewBox="0 0 100 34" preserveAspectRatio="none" aria-hidden="true">
            {boxes.map((box) => (
                <rect
                    class={box.excess > 0.1 ? "hot" : "cold"}
                    x={box.x * 98 + 1}
                    width={Math.max(0.8, Math.min(box.width, 1 - box.x) * 98 - 0.4)}
                    y={(box.depth * 33) / depths + 0.5}
                    height={33 / depths - 1}
                >
                    <title>{props.name(box.region)}</title>
                </rect>
            ))}
        </svg>
    );
}
