// The views, each in its box, with borders between them that can be dragged. All stand in one element, whatever
// the layout: a view that moves is not made anew.
import { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { draggedIn, keepDragged, setDragged } from "../state/panes";
import { PaneDivider } from "./divider";
import { Box, Divider, layOutPanes, sizesAfter, Tree } from "./panes_layout";
import { Size, useSize } from "./use_size";

function placed(box: Box, scale: number) {
    return Object.fromEntries(
        Object.entries(box).map(([key, units]) => [key, `${units * scale}px`]),
    );
}

type TitleOf = (view: string) => string;

function Border(props: { of: Divider; layout: string; size: Size; titleOf: TitleOf }) {
    const { of, layout, size } = props;
    const names = of.views.map(props.titleOf);
    return (
        <PaneDivider
            direction={of.direction}
            label={`${of.direction === "row" ? "Width" : "Height"} of ${names.join(", ")}`}
            controls={of.views.map((view) => `view-${view}`).join(" ")}
            now={of.sizes[of.index]}
            least={of.least}
            most={of.most}
            scale={size.scale}
            style={placed(of.box, size.scale)}
            set={(wanted) => setDragged(layout, of.path, sizesAfter(of, wanted))}
            reset={() => setDragged(layout, of.path, null)}
            keep={() => keepDragged(layout)}
        />
    );
}

interface PanesProps {
    layout: string; /* what a person drags is kept under this name */
    tree: Tree;
    scroller: Size; /* what they are in: a stack scrolls with it */
    id?: string; /* for links that skip to them */
    titleOf: TitleOf;
    draw: (view: string) => ComponentChildren;
}

export function Panes({ layout, tree, scroller, id, titleOf, draw }: PanesProps) {
    const box = useRef<HTMLDivElement>(null);
    const own = useSize(box);
    const size = tree.isStack ? { ...own, height: scroller.height } : own;
    const laid = size.width > 0 ? layOutPanes(tree, size, draggedIn(layout)) : null;
    return (
        <div class="views" id={id} tabIndex={-1} ref={box}>
            <div class="panes" style={laid ? { height: `${laid.height * size.scale}px` } : {}}>
                {laid?.items.map((item) =>
                    "view" in item ? (
                        <div key={item.view} class="pane" style={placed(item.box, size.scale)}>
                            {draw(item.view)}
                        </div>
                    ) : (
                        <Border
                            key={`${layout} ${item.path} ${item.index}`}
                            of={item}
                            layout={layout}
                            size={size}
                            titleOf={titleOf}
                        />
                    ),
                )}
            </div>
        </div>
    );
}
