// Views as pictures. A view offers itself as SVG; PNG is made of that, so that both show the same.
import { useEffect, useRef } from "preact/hooks";
import { Figure, frameFigure } from "../canvas/figure";
import { escapeXml, SvgPen } from "../canvas/svg_pen";
import { Table } from "../format/csv";
import { ViewName } from "../state/views";
import { cssColour, inks } from "./inks";

export type Picture = Figure;

/* Views of a run, and drawings of runs that are compared. */
export type PictureName = ViewName | "difference" | "timelines" | "trend";
export type TableName = ViewName | "list";

const offered = new Map<PictureName, () => Picture>();
const tables = new Map<TableName, () => Table | Promise<Table>>();
const pngRatio = 2; /* pixels per unit: sharp in print, too */
const margin = 10;
const fonts = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";

function useOffer<Name, Made>(
    of: Map<Name, () => Made>,
    name: Name,
    make: (() => Made) | undefined,
): void {
    const newest = useRef(make);
    newest.current = make;
    useEffect(() => {
        if (!newest.current) return;
        of.set(name, () => newest.current!());
        return () => {
            of.delete(name);
        };
    }, []);
}

/* While the view is there, `make` draws it as it is then; without it there is no picture. */
export function usePicture(name: PictureName, make?: () => Picture): void {
    useOffer(offered, name, make);
}

/* The same of a table: all of it, however much is shown. */
export function useTable(name: TableName, make: () => Table | Promise<Table>): void {
    useOffer(tables, name, make);
}

/* Null when there is none now. */
export async function tableOf(name: TableName): Promise<Table | null> {
    return (await tables.get(name)?.()) ?? null;
}

/* Papers are light, however the page is looked at. */
function onPaper<T>(draw: () => T): T {
    const { classList } = document.documentElement;
    classList.add("on-paper");
    try {
        return draw();
    } finally {
        classList.remove("on-paper");
    }
}

let measuring: CanvasRenderingContext2D | null = null;

export function textWidth(text: string, font: string): number {
    measuring ??= document.createElement("canvas").getContext("2d")!;
    measuring.font = font;
    return measuring.measureText(text).width;
}

export function newPen(name?: string): SvgPen {
    return new SvgPen(textWidth, name);
}

/* With a title, and below it the run. Null when the view has nothing to show now. */
export function svgOf(name: PictureName, title: string, of: string): string | null {
    const make = offered.get(name);
    return make ? onPaper(() => framed(make(), title, of)) : null;
}

function framed(picture: Picture, title: string, of: string): string {
    const pen = newPen();
    const under = picture.about ? `${of}: ${picture.about}` : of;
    const { width, height } = frameFigure(pen, picture, title, under, inks());
    const [wide, high] = [Math.ceil(width) + 2 * margin, Math.ceil(height) + 2 * margin];
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="${-margin} ${-margin} ${wide} ${high}" font-family="${fonts}" font-size="11">\n` +
        `<title>${escapeXml(`${title}: ${under}`)}</title>\n` +
        `<rect x="${-margin}" y="${-margin}" width="100%" height="100%" fill="${cssColour("--panel")}"/>\n` +
        `${pen}\n</svg>\n`
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
    "stroke-linecap",
    "opacity",
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
        for (const name of ["class", "tabindex", "role", "aria-label", "aria-pressed"])
            element.removeAttribute(name);
    });
    const { width, height } = svg.viewBox.baseVal;
    copy.setAttribute("y", String(y));
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    copy.removeAttribute("class");
    return { width, height, content: new XMLSerializer().serializeToString(copy) };
}
