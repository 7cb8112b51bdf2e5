// What is said of what the pointer is on, beside it: on the side that has room.
import { ComponentChildren } from "preact";
import { Size } from "./use_canvas";

const away = 12; /* units from the pointer */

export function HoverBox(props: {
    x: number; /* of the pointer, units */
    y: number;
    size: Size;
    children: ComponentChildren;
}) {
    const { x, y, size } = props;
    const isRight = x > size.width / 2;
    const px = (units: number) => `${units * size.scale}px`;
    return (
        <div
            class="hover"
            style={{
                top: px(y + away),
                [isRight ? "right" : "left"]: px((isRight ? size.width - x : x) + away),
            }}
        >
            {props.children}
        </div>
    );
}
