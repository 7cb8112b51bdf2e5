// Where the vertices of the force-directed drawing lie, and their names: those of what is strange
// first, then those of what took longest, each where it covers no other name and no other vertex. What
// finds no such place has its name when it is pointed at.
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
import { TreeNode } from "../api/types";
import { isStrange, strangeBelow } from "./icicle_layout";

export interface Vertex extends SimulationNodeDatum {
    node: number;
    radius: number;
}

export interface Name {
    node: number;
    text: string;
    x: number; /* its middle */
    y: number;
    isInside: boolean; /* on its own vertex */
    from: Vertex | null; /* far from it: a line leads there */
}

const steps = 200;
const most = 400; /* vertices: more is a hairball, and slow */
const largest = 1.6; /* times: a few vertices do not fill a large view */
const nameHeight = 14;
const gap = 3;

function depths(nodes: TreeNode[]): number[] {
    const depth: number[] = [];
    nodes.forEach((node, i) => (depth[i] = node.parent < 0 ? 0 : depth[node.parent] + 1));
    return depth;
}

function chooseVertices(nodes: TreeNode[], area: number, depthLimit: number): Vertex[] {
    const depth = depths(nodes);
    const kept = strangeBelow(nodes);
    const vertices: Vertex[] = [];
    nodes.forEach((node, i) => {
        const share = node.exclusive_ns / (nodes[0].inclusive_ns || 1);
        if ((depth[i] < depthLimit && vertices.length < most) || kept[i])
            vertices.push({
                node: i,
                radius: Math.max(4, Math.sqrt((area * share) / Math.PI)),
            });
    });
    return vertices;
}

/* To begin with, as a tree: a leaf has an angle of its own, a depth a circle. From there links end
   up with few crossings; from anywhere else they stay tangled. */
function placeAsTree(
    nodes: TreeNode[],
    vertices: Vertex[],
    width: number,
    height: number,
): void {
    const at = new Map(vertices.map((v, k) => [v.node, k]));
    const depth = depths(nodes);
    const leaves = vertices.map(() => 0);
    const hasChild = vertices.map(() => false);
    for (const v of vertices) if (v.node) hasChild[at.get(nodes[v.node].parent)!] = true;
    for (let k = vertices.length - 1; k >= 0; k--) {
        if (!hasChild[k]) leaves[k] = 1;
        const parent = at.get(nodes[vertices[k].node].parent);
        if (parent !== undefined) leaves[parent] += leaves[k];
    }
    const from = vertices.map(() => 0); /* leaves before it */
    const taken = vertices.map(() => 0); /* of its leaves, by its children so far */
    vertices.forEach((v, k) => {
        const parent = at.get(nodes[v.node].parent);
        if (parent !== undefined) {
            from[k] = from[parent] + taken[parent];
            taken[parent] += leaves[k];
        }
        const angle = ((from[k] + leaves[k] / 2) / leaves[0]) * 2 * Math.PI;
        const far = depth[v.node] * 0.3;
        v.x = width / 2 + far * width * Math.cos(angle);
        v.y = height / 2 + far * height * Math.sin(angle);
    });
}

/* Moves and scales them so that they, with room for names at the border, fill the drawing. */
function fit(vertices: Vertex[], width: number, height: number): void {
    const side = Math.min(70, width / 6);
    const least = (of: (v: Vertex) => number) => Math.min(...vertices.map(of));
    const [left, top] = [least((v) => v.x! - v.radius), least((v) => v.y! - v.radius)];
    const [right, low] = [-least((v) => -v.x! - v.radius), -least((v) => -v.y! - v.radius)];
    const room = [width - 2 * side, height - 3 * nameHeight];
    const k = Math.min(room[0] / (right - left), room[1] / (low - top), largest);
    for (const v of vertices) {
        v.x = width / 2 + k * (v.x! - (left + right) / 2);
        v.y = height / 2 - nameHeight / 2 + k * (v.y! - (top + low) / 2);
        v.radius = Math.max(3, v.radius * k);
    }
}

/* Lays out at once, not on the screen: a picture that moves by itself is hard to read. */
export function layOut(
    nodes: TreeNode[],
    width: number,
    height: number,
    depthLimit: number,
): Vertex[] {
    const vertices = chooseVertices(nodes, (width * height) / 8, depthLimit);
    if (!vertices.length) return vertices;
    placeAsTree(nodes, vertices, width, height);
    const at = new Map(vertices.map((v, k) => [v.node, k]));
    const links = vertices
        .filter((v) => v.node > 0)
        .map((v) => ({ source: at.get(v.node)!, target: at.get(nodes[v.node].parent)! }));
    const simulation = forceSimulation(vertices)
        .force(
            "link",
            forceLink<Vertex, SimulationLinkDatum<Vertex>>(links)
                .distance((l) => 22 + (l.source as Vertex).radius + (l.target as Vertex).radius)
                .strength(0.8),
        )
        .force("apart", forceManyBody().strength(-90))
        .force("x", forceX(width / 2).strength(0.04))
        .force("y", forceY(height / 2).strength(0.12))
        .force(
            "collide",
            forceCollide<Vertex>((v) => v.radius + nameHeight / 2),
        )
        .stop();
    for (let i = 0; i < steps; i++) simulation.tick();
    fit(vertices, width, height);
    return vertices;
}

interface Box {
    left: number;
    top: number;
    right: number;
    low: number;
}

function boxAt(x: number, y: number, width: number): Box {
    return {
        left: x - width / 2,
        right: x + width / 2,
        top: y - nameHeight / 2,
        low: y + nameHeight / 2,
    };
}

function doMeet(a: Box, b: Box): boolean {
    return a.left < b.right && b.left < a.right && a.top < b.low && b.top < a.low;
}

function isOn(box: Box, v: Vertex): boolean {
    const dx = v.x! - Math.min(Math.max(v.x!, box.left), box.right);
    const dy = v.y! - Math.min(Math.max(v.y!, box.top), box.low);
    return dx * dx + dy * dy < v.radius * v.radius;
}

type Place = Pick<Name, "x" | "y" | "isInside" | "from">;

/* Ever further away, all around. */
function farPlaces(v: Vertex): Place[] {
    const places: Place[] = [];
    for (let far = 2; far < 12; far++)
        for (let i = 0; i < 16; i++) {
            const angle = ((i * 5) / 8) * Math.PI; /* the next one lies elsewhere */
            const x = v.x! + (v.radius + far * nameHeight * 1.5) * Math.cos(angle);
            const y = v.y! + (v.radius + far * nameHeight) * Math.sin(angle);
            places.push({ x, y, isInside: false, from: v });
        }
    return places;
}

/* Inside if it fits, else around the vertex, the usual places first. */
function placesOf(v: Vertex, width: number): Place[] {
    const [x, y] = [v.x!, v.y!];
    const up = v.radius + gap + nameHeight / 2;
    const aside = v.radius + gap + width / 2;
    const around = [
        [x, y + up],
        [x, y - up],
        [x + aside, y],
        [x - aside, y],
        [x + 0.7 * aside, y + 0.8 * up],
        [x - 0.7 * aside, y + 0.8 * up],
        [x + 0.7 * aside, y - 0.8 * up],
        [x - 0.7 * aside, y - 0.8 * up],
    ].map(([px, py]) => ({ x: px, y: py, isInside: false, from: null }));
    const fits = Math.hypot(width / 2, nameHeight / 2) < v.radius;
    return fits ? [{ x, y, isInside: true, from: null }, ...around] : around;
}

/* textOf: what to write; widthOf: how wide that is. */
export function placeNames(
    nodes: TreeNode[],
    vertices: Vertex[],
    width: number,
    height: number,
    textOf: (node: number) => string,
    widthOf: (text: string) => number,
): Name[] {
    const rank = (v: Vertex) =>
        (isStrange(nodes[v.node], nodes[0]) ? 2 : 0) + (v.node === 0 ? 1 : 0);
    const order = [...vertices].sort(
        (a, b) => rank(b) - rank(a) || nodes[b.node].inclusive_ns - nodes[a.node].inclusive_ns,
    );
    const names: Name[] = [];
    const taken: Box[] = [];
    for (const v of order) {
        const text = textOf(v.node);
        const wide = widthOf(text) + 4;
        const near = placesOf(v, wide);
        const places = rank(v) >= 2 ? [...near, ...farPlaces(v)] : near;
        const free = places.find(({ x, y, isInside }) => {
            const box = boxAt(x, y, wide);
            return (
                box.left >= 0 &&
                box.right <= width &&
                box.top >= 0 &&
                box.low <= height &&
                !taken.some((other) => doMeet(box, other)) &&
                !vertices.some((other) => !(isInside && other === v) && isOn(box, other))
            );
        });
        if (!free) continue;
        taken.push(boxAt(free.x, free.y, wide));
        names.push({ node: v.node, text, ...free });
    }
    return names;
}
