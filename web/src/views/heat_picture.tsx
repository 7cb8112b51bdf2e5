// A heat map, on the page and in reports: lanes from above, stretches of time from the left, a pixel of the canvas for each cell.
import { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { Cell, cellAt } from "../canvas/heat";
import { Canvas, CanvasProps, Point } from "./canvas";

interface HeatProps extends Pick<CanvasProps, "drag" | "keys" | "role" | "name"> {
    rows: number;
    columns: number;
    of: unknown[]; /* it is drawn anew when one of these is another */
    rgba: () => Uint8ClampedArray; /* [4 * rows * columns] row by row */
    ends: string[]; /* names of the first lane and of the last */
    label: string;
    hover: (cell: Cell | null) => void;
    choose?: (cell: Cell) => void;
    box?: RefObject<HTMLDivElement>;
    children?: ComponentChildren; /* what lies above */
}

export function HeatPicture(props: HeatProps) {
    const { rows, columns, ends, of, rgba, hover, choose, ...more } = props;
    const own = useRef<HTMLDivElement>(null);
    const cell = ({ x, y }: Point) => cellAt(rows, columns, x, y);
    return (
        <div class="heat-frame">
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
            />
        </div>
    );
}
