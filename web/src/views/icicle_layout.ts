// The icicle: a call path is as wide as its time, what it called lies below it. What is strange
// keeps a width that can be seen, and stays beyond the depth limit.
import { TreeNode } from "../api/types";

export interface Placed {
    node: number; /* index into the tree */
    depth: number;
    x: number; /* pixels */
    width: number;
    hidden: number; /* call paths below it that are not drawn */
}

const strangeShare = 0.05; /* of the time of the execution, lost here */
const strangeRarity = 5; /* nats: 1 in 150 */
const leastWidth = 1.2; /* pixels: what is narrower is left out ... */
const leastStrange = 5; /* ... unless it is strange */

/* than: as in typicalWords. */
export const strangeWords = (than: string) =>
    `takes longer than ${than}, by ${100 * strangeShare} % of the execution or more, or is rare`;

export function isStrange(node: TreeNode, root: TreeNode): boolean {
    return (
        node.excess_ns > strangeShare * root.inclusive_ns ||
        node.rarity >= strangeRarity ||
        (node.usual_ns === null && node.inclusive_ns > strangeShare * root.inclusive_ns)
    );
}

export function childrenOf(nodes: TreeNode[]): number[][] {
    const children: number[][] = nodes.map(() => []);
    nodes.forEach((node, i) => node.parent >= 0 && children[node.parent].push(i));
    return children;
}

/* For every node: is it, or something below it, strange? Backwards, as children come later. */
export function strangeBelow(nodes: TreeNode[]): boolean[] {
    const is = nodes.map((node) => isStrange(node, nodes[0]));
    for (let i = nodes.length - 1; i > 0; i--) if (is[i]) is[nodes[i].parent] = true;
    return is;
}

function sizes(nodes: TreeNode[]): number[] {
    const size = nodes.map(() => 1);
    for (let i = nodes.length - 1; i > 0; i--) size[nodes[i].parent] += size[i];
    return size;
}

/* pxPerNs: the width of a nanosecond. */
export function placeNodes(nodes: TreeNode[], pxPerNs: number, depthLimit: number): Placed[] {
    const children = childrenOf(nodes);
    const isKept = strangeBelow(nodes);
    const size = sizes(nodes);
    const placed: Placed[] = [];
    const add = (i: number, depth: number, x: number, width: number) => {
        const own: Placed = { node: i, depth, x, width, hidden: 0 };
        placed.push(own);
        let at = x;
        for (const child of children[i]) {
            const wide = nodes[child].inclusive_ns * pxPerNs;
            const isDrawn = isKept[child] || (depth + 1 < depthLimit && wide >= leastWidth);
            if (!isDrawn) {
                own.hidden += size[child];
                continue;
            }
            const room = Math.max(0, x + width - at);
            const w = isKept[child]
                ? Math.min(Math.max(wide, leastStrange), Math.max(room, leastStrange))
                : Math.min(wide, room);
            if (w > 0) add(child, depth + 1, at, w);
            at += w;
        }
    };
    if (nodes.length) add(0, 0, 0, nodes[0].inclusive_ns * pxPerNs);
    return placed;
}
