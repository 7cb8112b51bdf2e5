// The structure of an execution and of a typical one, as a figure: each with an axis of time below it.
import { TreeNode } from "../api/types";
import { drawTimeAxis, Key, timeAxisHeight } from "../canvas/figure";
import { css } from "../format/colour";
import { Rgb } from "../format/palette";
import { regionName } from "../state/names";
import { shownNow } from "../state/selected";
import { typicalNow } from "../state/store";
import { newPen, Picture, pictureOfSvg } from "./pictures";
import { strangeWords } from "./icicle_layout";
import { cssColour, inks } from "./inks";

const titleRoom = 20;
const mostKeys = 16;

interface Drawn {
    own: SVGSVGElement;
    usual: SVGSVGElement | null;
    usualTitle: string;
    ns: [number, number] | null; /* that both took; null: no width is a time */
    pxPerNs: [number, number];
    nodes: TreeNode[];
    colour: (region: number, depth: number) => Rgb;
}

/* The functions with most time of their own. */
function keysOf({ nodes, colour }: Drawn): Key[] {
    const time = new Map<number, { ns: number; depth: number }>();
    const depth: number[] = [];
    let root = 0; /* of the tree that the node is in */
    nodes.forEach((node, i) => {
        if (node.parent < 0) root = i;
        depth[i] = node.parent < 0 ? 0 : depth[root + node.parent] + 1;
        const before = time.get(node.region) ?? { ns: 0, depth: depth[i] };
        time.set(node.region, { ...before, ns: before.ns + node.exclusive_ns });
    });
    const keys = [...time]
        .sort((a, b) => b[1].ns - a[1].ns)
        .slice(0, mostKeys)
        .map(([region, at]) => ({
            colour: css(colour(region, at.depth)),
            text: regionName(region),
        }));
    return [
        ...keys,
        {
            colour: cssColour("--hot"),
            text: strangeWords(typicalNow.value.than),
            shape: "frame",
        },
    ];
}

export function structureFigure(of: Drawn): Picture {
    const pen = newPen();
    const colours = inks();
    let y = 0;
    let width = 0;
    const put = (svg: SVGSVGElement, k: 0 | 1) => {
        const drawn = pictureOfSvg(svg, y);
        pen.insert(drawn.content);
        y += drawn.height;
        width = Math.max(width, drawn.width);
        if (!of.ns) return;
        const right = of.ns[k] * of.pxPerNs[k] + 1;
        const title = "time in calls";
        drawTimeAxis(pen, { begin: 0, end: of.ns[k], left: 1, right, y, title }, colours);
        y += timeAxisHeight;
    };
    put(of.own, 0);
    if (of.usual) {
        pen.font = "12px system-ui, sans-serif";
        pen.fillStyle = colours.dim;
        pen.textAlign = "left";
        pen.textBaseline = "alphabetic";
        pen.fillText(of.usualTitle, 2, y + titleRoom - 6);
        y += titleRoom;
        put(of.usual, 1);
    }
    return {
        width,
        height: y,
        content: pen.toString(),
        about: shownNow()?.id,
        keys: keysOf(of),
        notes: of.ns ? [] : ["Area: time in the call itself."],
    };
}
