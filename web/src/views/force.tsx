// The tree as a force-directed drawing, as in paper 1 of the method: the area of a vertex is the
// time in the call path itself, so that areas add up to the execution.
import {
    forceCollide,
    forceLink,
    forceManyBody,
    forceSimulation,
    forceX,
    forceY,
    SimulationLinkDatum,
    SimulationNodeDatum,
} from "d3-force";
import { useMemo } from "preact/hooks";
import { TreeNode } from "../api/types";
import { css, regionColour } from "../format/colour";
import { isStrange, strangeBelow } from "./icicle_layout";
import { nodeTitle } from "./icicle";

interface Vertex extends SimulationNodeDatum {
    node: number;
    radius: number;
}

const steps = 200;
const nameRoom = 16; /* around a vertex with a name */
const most = 400; /* vertices: more is a hairball, and slow */

function depths(nodes: TreeNode[]): number[] {
    const depth: number[] = [];
    nodes.forEach((node, i) => (depth[i] = node.parent < 0 ? 0 : depth[node.parent] + 1));
    return depth;
}

/* Lays out at once, not on the screen: a picture that moves by itself is hard to read. */
export function layOut(
    nodes: TreeNode[],
    width: number,
    height: number,
    depthLimit: number,
): Vertex[] {
    const depth = depths(nodes);
    const kept = strangeBelow(nodes);
    const area = (width * height) / 8;
    const vertices: Vertex[] = [];
    nodes.forEach((node, i) => {
        if ((depth[i] < depthLimit && vertices.length < most) || kept[i])
            vertices.push({
                node: i,
                radius: Math.max(
                    4,
                    Math.sqrt(
                        (area * node.exclusive_ns) / (nodes[0].inclusive_ns || 1) / Math.PI,
                    ),
                ),
            });
    });
    const at = new Map(vertices.map((v, k) => [v.node, k]));
    const links = vertices
        .filter((v) => v.node > 0)
        .map((v) => ({ source: at.get(v.node)!, target: at.get(nodes[v.node].parent)! }));
    const simulation = forceSimulation(vertices)
        .force(
            "link",
            forceLink<Vertex, SimulationLinkDatum<Vertex>>(links)
                .distance((l) => 14 + (l.source as Vertex).radius + (l.target as Vertex).radius)
                .strength(0.8),
        )
        .force("apart", forceManyBody().strength(-60))
        .force("x", forceX(width / 2).strength(0.06))
        .force("y", forceY(height / 2).strength(0.12))
        .force(
            "collide",
            forceCollide<Vertex>(
                (v) => v.radius + (hasName(nodes, v, vertices.length) ? nameRoom : 3),
            ),
        )
        .stop();
    for (let i = 0; i < steps; i++) simulation.tick();
    return vertices;
}

/* Small ones that are as usual have their name only when pointed at: all names would cover each other. */
function hasName(nodes: TreeNode[], v: Vertex, n: number): boolean {
    return (
        isStrange(nodes[v.node], nodes[0]) ||
        v.radius > 9 ||
        v.node === 0 ||
        nodes[v.node].parent === 0 ||
        n < 8
    );
}

function bounds(vertices: Vertex[]): string {
    const left = Math.min(...vertices.map((v) => v.x! - v.radius)) - 50;
    const top = Math.min(...vertices.map((v) => v.y! - v.radius)) - 12;
    const right = Math.max(...vertices.map((v) => v.x! + v.radius)) + 50;
    const low = Math.max(...vertices.map((v) => v.y! + v.radius)) + 18;
    return `${left} ${top} ${right - left} ${low - top}`;
}

interface Props {
    nodes: TreeNode[];
    name: (region: number) => string;
    width: number;
    height: number;
    depthLimit: number;
    isMarked: (node: number) => boolean;
    pick: (node: number) => void;
    label: string;
    scale: number; /* pixels of the page per unit */
}

export function Force(props: Props) {
    const { nodes, name } = props;
    const vertices = useMemo(
        () => layOut(nodes, props.width, props.height, props.depthLimit),
        [nodes, props.width, props.height, props.depthLimit],
    );
    const byNode = new Map(vertices.map((v) => [v.node, v]));
    return (
        <svg
            class="force"
            width={props.width * props.scale}
            height={props.height * props.scale}
            viewBox={bounds(vertices)}
            role="group"
            aria-label={props.label}
            data-export="structure"
        >
            {vertices
                .filter((v) => v.node > 0)
                .map((v) => {
                    const parent = byNode.get(nodes[v.node].parent)!;
                    return <line x1={v.x} y1={v.y} x2={parent.x} y2={parent.y} />;
                })}
            {vertices.map((v) => {
                const node = nodes[v.node];
                const title = nodeTitle(node, name(node.region));
                const strange = isStrange(node, nodes[0]);
                const text = `${strange ? "▲ " : ""}${name(node.region)}${node.calls > 1 ? ` × ${node.calls}` : ""}`;
                const isNamed = hasName(nodes, v, vertices.length);
                return (
                    <g
                        key={v.node}
                        class={`node${strange ? " strange" : ""}${props.isMarked(v.node) ? " marked" : ""}`}
                        role="button"
                        tabIndex={0}
                        aria-label={isNamed ? `${text}: ${title}` : title}
                        transform={`translate(${v.x},${v.y})`}
                        onClick={() => props.pick(v.node)}
                        onKeyDown={(event) =>
                            (event.key === "Enter" || event.key === " ") && props.pick(v.node)
                        }
                    >
                        <title>{title}</title>
                        <circle r={v.radius} fill={css(regionColour(name(node.region)))} />
                        {isNamed && (
                            <text class="beside" text-anchor="middle" y={v.radius + 11}>
                                {text}
                            </text>
                        )}
                    </g>
                );
            })}
        </svg>
    );
}
