// The overview as SVG: a circle per point while they are few; else the points as they are on the
// screen, as an image between the lines and words.
import { diameters, Points, PointScene } from "../canvas/points";
import { Key } from "../canvas/figure";
import { Pen } from "../canvas/svg_pen";
import { css, scaleColour } from "../format/colour";
import {
    abnormalColour,
    anomalyColour,
    normalColour,
    plainColour,
    sideColours,
} from "../format/palette";
import { ColourBy, Executions, Plane } from "../state/store";
import { inks } from "./inks";
import { newPen, Picture } from "./pictures";

const mostCircles = 20000;

function drawPoint(pen: Pen, points: Points, scene: PointScene, i: number): void {
    const { view, outline } = scene;
    const tree = points.order[i];
    const isKept = i >= points.firstKept;
    const size = diameters(points, 1);
    const radius = (isKept ? size.kept : size.plain) / 2;
    const [x, y] = [
        points.x[tree] * view.scaleX + view.x,
        (1 - points.y[tree]) * view.scaleY + view.y,
    ];
    if (x < 0 || y < 0 || x > scene.width || y > scene.height) return;
    const [r, g, b, alpha] = points.rgba.subarray(4 * tree, 4 * tree + 4);
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = `rgb(${r},${g},${b})`;
    pen.globalAlpha = alpha / 255;
    pen.fill();
    pen.globalAlpha = 1;
    if (!isKept) return;
    pen.lineWidth = size.outline;
    pen.strokeStyle = `rgb(${outline.join()})`;
    pen.stroke();
}

/* canvas: what is taken where circles would be too many. over: draws what lies above the points. */
export function pointsPicture(
    points: Points,
    scene: PointScene,
    canvas: HTMLCanvasElement | null,
    over: (pen: Pen) => void,
): Picture {
    const { width, height } = scene;
    const pen = newPen();
    if (canvas && points.order.length > mostCircles)
        pen.insert(`<image width="${width}" height="${height}" href="${canvas.toDataURL()}"/>`);
    else for (let i = 0; i < points.order.length; i++) drawPoint(pen, points, scene, i);
    over(pen);
    return { width, height, content: pen.toString() };
}

const dots = (list: [readonly [number, number, number], string][]): Key[] =>
    list.map(([[r, g, b], text]) => ({ colour: css([r, g, b]), text, shape: "circle" }));

/* What colours of points mean. */
export function pointKeys(by: ColourBy, all: Executions, isOneSelected: boolean): Key[] {
    let highest = 0;
    for (let i = 0; i < all.n; i++) highest = Math.max(highest, all.score[i]);
    const anomaly: [typeof anomalyColour, string] = [anomalyColour, "anomaly (outlined)"];
    const keys: Record<ColourBy, Key[]> = {
        verdict: dots([[plainColour.light, "normal execution"], anomaly]),
        score: dots([
            [scaleColour(0), "score 0"],
            [scaleColour(0.5), `score ${(highest / 2).toFixed(1)}`],
            [scaleColour(1), `score ${highest.toFixed(1)}`],
        ]),
        label: dots([
            [abnormalColour, "labelled abnormal"],
            [normalColour, "labelled normal"],
            [plainColour.light, "not labelled"],
        ]),
        rank: [],
        side: dots([
            [sideColours[0], "before"],
            [sideColours[1], "after"],
        ]),
    };
    const ring: Key[] = [{ colour: inks().ink, text: "selected", shape: "frame" }];
    return [...keys[by], ...(isOneSelected ? ring : [])];
}

const methods: Record<Plane, string> = {
    pca: "principal components",
    mds: "multidimensional scaling",
    tsne: "t-SNE",
    attributes: "",
};

/* Axes of a projection have no unit. */
export function projectionNote(plane: Plane): string {
    return `Placed by ${methods[plane]}: executions that are alike lie near each other; the axes have no unit.`;
}
