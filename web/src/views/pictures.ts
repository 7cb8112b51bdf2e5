// Views as pictures. A view offers itself as SVG; PNG is made of that, so that both show the same.
import { useEffect, useRef } from "preact/hooks";
import { escapeXml, SvgPen } from "../canvas/svg_pen";
import { ViewName } from "../state/views";
import { cssColour } from "./use_canvas";

export interface Picture {
    width: number; /* units */
    height: number;
    content: string; /* SVG */
}

const offered = new Map<ViewName, () => Picture>();
const pngRatio = 2; /* pixels per unit: sharp in print, too */
const margin = 8;
const fonts = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";

/* While the view is there, `make` draws it as it is then. */
export function usePicture(name: ViewName, make: () => Picture): void {
    const newest = useRef(make);
    newest.current = make;
    useEffect(() => {
        offered.set(name, () => newest.current());
        return () => {
            offered.delete(name);
        };
    }, []);
}

let measuring: CanvasRenderingContext2D | null = null;

export function textWidth(text: string, font: string): number {
    measuring ??= document.createElement("canvas").getContext("2d")!;
    measuring.font = font;
    return measuring.measureText(text).width;
}

export function newPen(): SvgPen {
    return new SvgPen(textWidth);
}

/* Null when the view has nothing to show now. */
export function svgOf(name: ViewName, title: string): string | null {
    const picture = offered.get(name)?.();
    if (!picture) return null;
    const { width, height, content } = picture;
    const box = `${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`;
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width + 2 * margin}" height="${height + 2 * margin}" viewBox="${box}" font-family="${fonts}" font-size="11">\n` +
        `<title>${escapeXml(title)}</title>\n` +
        `<rect x="${-margin}" y="${-margin}" width="100%" height="100%" fill="${cssColour("--panel")}"/>\n` +
        `${content}\n</svg>\n`
    );
}

export async function pngOf(svg: string): Promise<Blob> {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(image.width * pngRatio);
    canvas.height = Math.ceil(image.height * pngRatio);
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done, fail) =>
        canvas.toBlob(
            (blob) => (blob ? done(blob) : fail(new Error("the picture is too large"))),
            "image/png",
        ),
    );
}

/* The styles an SVG gets from the page, written into it. */
const svgStyles = [
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linejoin",
    "paint-order",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
];

/* A drawing of the page that is SVG already, to stand inside a picture. */
export function pictureOfSvg(svg: SVGSVGElement, y = 0): Picture {
    const copy = svg.cloneNode(true) as SVGSVGElement;
    const from = svg.querySelectorAll<SVGElement>("*");
    copy.querySelectorAll<SVGElement>("*").forEach((element, i) => {
        const style = getComputedStyle(from[i]);
        for (const name of svgStyles) element.setAttribute(name, style.getPropertyValue(name));
        for (const name of ["class", "tabindex", "role"]) element.removeAttribute(name);
    });
    const { width, height } = svg.viewBox.baseVal;
    copy.setAttribute("y", String(y));
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    copy.removeAttribute("class");
    return { width, height, content: new XMLSerializer().serializeToString(copy) };
}
