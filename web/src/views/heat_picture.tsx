// A heat map, on the page and in reports: lanes from above, stretches of time from the left, a pixel of the canvas for each cell.
import { ComponentChildren, RefObject } from "preact";
import { scaleLinear } from "d3-scale";
import { useRef } from "preact/hooks";
import { Cell, cellAt } from "../canvas/heat";
import { Span } from "../canvas/window";
import { formatMoment } from "../format/units";
import { Canvas, CanvasProps, Point } from "./canvas";

const manyTicks = 5;

interface HeatProps extends Pick<CanvasProps, "drag" | "keys" | "role" | "name"> {
    rows: number;
    columns: number;
    of: unknown[]; /* it is drawn anew when one of these is another */
    rgba: () => Uint8ClampedArray; /* [4 * rows * columns] row by row */
    ends: string[]; /* names of the first lane and of the last */
    across?: Span; /* the time from its left edge to its right one: there is an axis below */
    label: string;
    hover: (cell: Cell | null) => void;
    choose?: (cell: Cell) => void;
    box?: RefObject<HTMLDivElement>;
    children?: ComponentChildren; /* what lies above */
}

/* Below the picture. A text stands left of its tick by as much of its width as the tick is to the right: none is cut. */
function TimeTicks({ of }: { of: Span }) {
    const place = scaleLinear().domain(of).range([0, 100]);
    const ticks = place.ticks(manyTicks);
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : of[1] - of[0];
    return (
        <span class="heat-axis dim" aria-hidden="true">
            {ticks.map((ns) => (
                <>
                    <i style={{ left: `${place(ns)}%` }} />
                    <span
                        style={{
                            left: `${place(ns)}%`,
                            transform: `translateX(-${place(ns)}%)`,
                        }}
                    >
                        {ns ? formatMoment(ns, step) : "0"}
                    </span>
                </>
            ))}
        </span>
    );
}

export function HeatPicture(props: HeatProps) {
    const { rows, columns, ends, of, rgba, hover, choose, across, children, ...more } = props;
    const own = useRef<HTMLDivElement>(null);
    const cell = ({ x, y }: Point) => cellAt(rows, columns, x, y);
    return (
        <div class={across ? "heat-frame with-axis" : "heat-frame"}>
            <span class="heat-ranks dim" aria-hidden="true">
                <span>{ends[0]}</span>
                {rows > 1 && <span>{ends[1]}</span>}
            </span>
            <Canvas
                {...more}
                box={props.box ?? own}
                size={{ width: rows && columns, height: rows, scale: 1, ratio: 1 }}
                class="heat-picture"
                canvasClass="heat"
                of={of}
                draw={(pen) => {
                    const image = new ImageData(columns, rows);
                    image.data.set(rgba());
                    pen.putImageData(image, 0, 0);
                }}
                hover={(at) => hover(at && cell(at))}
                choose={choose && ((at) => choose(cell(at)))}
            >
                {across && <TimeTicks of={across} />}
                {children}
            </Canvas>
        </div>
    );
}
