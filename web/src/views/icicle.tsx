// An icicle of call paths as SVG: it can be read aloud, and saved as it is.
import { RefObject } from "preact";
import { TreeNode } from "../api/types";
import { css, inkOn, regionColour } from "../format/colour";
import { Rgb } from "../format/palette";
import { formatCount, formatExcess, formatTime } from "../format/units";
import { typicalNow } from "../state/store";
import { isStrange, placeNodes } from "./icicle_layout";
import { firstThatFits } from "./node_text";

export const rowHeight = 24;

export function nodeTitle(node: TreeNode, name: string, words = typicalNow.value): string {
    const usually =
        node.usual_ns === null ? words.absent : `${words.short} ${formatTime(node.usual_ns)}`;
    const many = node.calls === 1 ? "" : ` × ${formatCount(node.calls)}`;
    return (
        `${name}${many}: ${formatTime(node.inclusive_ns)}, own time ${formatTime(node.exclusive_ns)} (${usually})` +
        (node.excess_ns ? `; ${formatExcess(node.excess_ns)}` : "")
    );
}

interface Props {
    nodes: TreeNode[];
    name: (region: number) => string;
    pxPerNs: number;
    depthLimit: number;
    isMarked: (node: number) => boolean;
    pick?: (node: number) => void;
    titleOf?: (node: number) => string; /* in place of what compares it with the usual */
    colourOf?: (region: number, depth: number) => Rgb; /* in place of that of the function */
    label: string;
    scale?: number; /* pixels of the page per unit */
    share?: number; /* or: what it stands in is so many units wide, whatever its size */
    svg?: RefObject<SVGSVGElement>;
}

export function Icicle(props: Props) {
    const { nodes, name } = props;
    const placed = placeNodes(nodes, props.pxPerNs, props.depthLimit);
    const height = (Math.max(0, ...placed.map((p) => p.depth)) + 1) * rowHeight + 2;
    const width = Math.max(1, ...placed.map((p) => p.x + p.width)) + 2;
    return (
        <svg
            class="icicle"
            width={props.share ? `${(100 * width) / props.share}%` : width * (props.scale ?? 1)}
            height={props.share ? undefined : height * (props.scale ?? 1)}
            viewBox={`0 0 ${width} ${height}`}
            role="group"
            aria-label={props.label}
            ref={props.svg}
        >
            {placed.map(({ node: i, depth, x, width: w, hidden }) => {
                const node = nodes[i];
                const colour =
                    props.colourOf?.(node.region, depth) ?? regionColour(name(node.region));
                const many = node.calls > 1 ? ` × ${formatCount(node.calls)}` : "";
                const strange = isStrange(node, nodes[0]);
                const inset = strange ? 1.5 : 0; /* its outline stays inside */
                const named = `${strange ? "▲ " : ""}${name(node.region)}${many}`;
                const timed = `${named}  ${formatTime(node.inclusive_ns)}`;
                const texts = [
                    `${timed}${hidden ? `  (${formatCount(hidden)} below not drawn)` : ""}`,
                    timed,
                    named,
                ];
                const text = firstThatFits(texts, w - 10);
                const title =
                    (props.titleOf?.(i) ?? nodeTitle(node, name(node.region))) +
                    (hidden ? `; ${hidden} call paths below are not drawn` : "");
                const act = props.pick && (() => props.pick!(i));
                return (
                    <g
                        key={i}
                        transform={`translate(${x + 1},${depth * rowHeight + 1})`}
                        class={`node${strange ? " strange" : ""}${props.isMarked(i) ? " marked" : ""}`}
                        role={act ? "button" : undefined}
                        tabindex={act ? 0 : undefined} /* SVG knows no tabIndex */
                        aria-label={act && (text ? `${text}: ${title}` : title)}
                        onClick={act}
                        onKeyDown={(event) =>
                            (event.key === "Enter" || event.key === " ") && act?.()
                        }
                    >
                        <title>{title}</title>
                        <rect
                            x={inset}
                            y={inset}
                            width={Math.max(0.8, w - 1 - 2 * inset)}
                            height={rowHeight - 2 - 2 * inset}
                            fill={css(colour)}
                        />
                        {text && (
                            <text x={5} y={rowHeight / 2 + 3} fill={inkOn(colour)}>
                                {text}
                            </text>
                        )}
                    </g>
                );
            })}
        </svg>
    );
}
