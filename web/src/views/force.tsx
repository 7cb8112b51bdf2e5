// The tree as a force-directed drawing, as in paper 1 of the method: the area of a vertex is the
// time in the call path itself, so that areas add up to the execution.
import { RefObject } from "preact";
import { useMemo } from "preact/hooks";
import { TreeNode } from "../api/types";
import { css, inkOn, regionColour } from "../format/colour";
import { layOut, placeNames } from "./force_layout";
import { isStrange } from "./icicle_layout";
import { nodeTitle } from "./icicle";
import { cutText, nameFont } from "./node_text";
import { textWidth } from "./pictures";

const longest = 170; /* pixels of a name */

interface Props {
    nodes: TreeNode[];
    name: (region: number) => string;
    width: number;
    height: number;
    depthLimit: number;
    isMarked: (node: number) => boolean;
    pick?: (node: number) => void;
    titleOf?: (node: number) => string; /* in place of what compares it with the usual */
    label: string;
    scale: number; /* pixels of the page per unit */
    svg: RefObject<SVGSVGElement>;
}

export function Force(props: Props) {
    const { nodes, name, width, height, depthLimit } = props;
    const textOf = (i: number) =>
        cutText(
            `${isStrange(nodes[i], nodes[0]) ? "▲ " : ""}${name(nodes[i].region)}${nodes[i].calls > 1 ? ` × ${nodes[i].calls}` : ""}`,
            longest,
        );
    const [vertices, names] = useMemo(() => {
        const placed = layOut(nodes, width, height, depthLimit);
        const measure = (text: string) => textWidth(text, nameFont);
        return [placed, placeNames(nodes, placed, width, height, textOf, measure)] as const;
    }, [nodes, width, height, depthLimit, name]);
    const byNode = new Map(vertices.map((v) => [v.node, v]));
    return (
        <svg
            class="force"
            ref={props.svg}
            width={width * props.scale}
            height={height * props.scale}
            viewBox={`0 0 ${width} ${height}`}
            role="group"
            aria-label={props.label}
        >
            {vertices
                .filter((v) => v.node > 0)
                .map((v) => {
                    const parent = byNode.get(nodes[v.node].parent)!;
                    return <line x1={v.x} y1={v.y} x2={parent.x} y2={parent.y} />;
                })}
            {vertices.map((v) => {
                const node = nodes[v.node];
                const title = props.titleOf?.(v.node) ?? nodeTitle(node, name(node.region));
                const act = props.pick && (() => props.pick!(v.node));
                const strange = isStrange(node, nodes[0]);
                return (
                    <g
                        key={v.node}
                        class={`node${strange ? " strange" : ""}${props.isMarked(v.node) ? " marked" : ""}`}
                        role={act ? "button" : undefined}
                        tabindex={act ? 0 : undefined} /* SVG knows no tabIndex */
                        aria-label={act && `${textOf(v.node)}: ${title}`}
                        transform={`translate(${v.x},${v.y})`}
                        onClick={act}
                        onKeyDown={(event) =>
                            (event.key === "Enter" || event.key === " ") && act?.()
                        }
                    >
                        <title>{title}</title>
                        <circle r={v.radius} fill={css(regionColour(name(node.region)))} />
                    </g>
                );
            })}
            {names
                .filter((of) => of.from)
                .map((of) => (
                    <line class="leader" x1={of.x} y1={of.y} x2={of.from!.x} y2={of.from!.y} />
                ))}
            {names.map((of) => (
                <text
                    key={of.node}
                    class="node-name"
                    text-anchor="middle"
                    x={of.x}
                    y={of.y + 4}
                    fill={
                        of.isInside
                            ? inkOn(regionColour(name(nodes[of.node].region)))
                            : undefined
                    }
                >
                    {of.text}
                </text>
            ))}
        </svg>
    );
}
