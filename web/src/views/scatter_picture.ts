// The overview as SVG: a circle per point while they are few; else the points as they are on the
// screen, as an image between the lines and words.
import { diameters, Points, PointScene } from "../canvas/points";
import { Pen } from "../canvas/svg_pen";
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

/* over: draws what lies above the points. */
export function pointsPicture(
    points: Points,
    scene: PointScene,
    canvas: HTMLCanvasElement,
    over: (pen: Pen) => void,
): Picture {
    const { width, height } = scene;
    const pen = newPen();
    if (points.order.length > mostCircles)
        pen.insert(`<image width="${width}" height="${height}" href="${canvas.toDataURL()}"/>`);
    else for (let i = 0; i < points.order.length; i++) drawPoint(pen, points, scene, i);
    over(pen);
    return { width, height, content: pen.toString() };
}
