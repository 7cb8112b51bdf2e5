// Saving: labels and executions as CSV, the window of the timeline as Chrome JSON, views as pictures.
import { useRef } from "preact/hooks";
import { apiUrl } from "../api/http";
import { foi, run, ViewName, views } from "../state/store";
import { viewTitles } from "./panel";
import { windowShown } from "./timeline_window";

function save(blob: Blob, name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/* The styles an SVG gets from the page, written into it. */
const svgStyles = [
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "font-family",
    "font-size",
    "text-anchor",
];

function svgText(svg: SVGSVGElement): string {
    const copy = svg.cloneNode(true) as SVGSVGElement;
    const from = svg.querySelectorAll<SVGElement>("*");
    copy.querySelectorAll<SVGElement>("*").forEach((element, i) => {
        const style = getComputedStyle(from[i]);
        for (const name of svgStyles) element.setAttribute(name, style.getPropertyValue(name));
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    return new XMLSerializer().serializeToString(copy);
}

/* All canvases of a view, one above the other. */
function canvasBlob(canvases: HTMLCanvasElement[]): Promise<Blob | null> {
    const whole = document.createElement("canvas");
    whole.width = canvases[0].width;
    whole.height = canvases[0].height;
    const context = whole.getContext("2d")!;
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--panel");
    context.fillRect(0, 0, whole.width, whole.height);
    for (const canvas of canvases) context.drawImage(canvas, 0, 0);
    return new Promise((done) => whole.toBlob(done, "image/png"));
}

async function saveView(name: ViewName): Promise<void> {
    const file = `${run.value?.name ?? "snag"}-${name}`;
    const parts = Array.from(document.querySelectorAll(`[data-export="${name}"]`));
    if (parts[0] instanceof SVGSVGElement)
        return save(new Blob([svgText(parts[0])], { type: "image/svg+xml" }), `${file}.svg`);
    if (!parts.length) return;
    const blob = await canvasBlob(parts as HTMLCanvasElement[]);
    if (blob) save(blob, `${file}.png`);
}

const pictures: [ViewName, string][] = [
    ["overview", "PNG"],
    ["structure", "SVG"],
    ["timeline", "PNG"],
];

export function ExportMenu() {
    const menu = useRef<HTMLDetailsElement>(null);
    const shown = windowShown.value;
    const window =
        shown &&
        `/window.json?begin=${Math.floor(shown.begin)}&end=${Math.ceil(shown.end)}&locations=${shown.locations.join(",")}`;
    const close = () => menu.current?.removeAttribute("open");
    return (
        <details
            class="menu"
            ref={menu}
            onClick={(event) => (event.target as HTMLElement).closest("a, button") && close()}
        >
            <summary>Save</summary>
            <div>
                <a href={apiUrl("/labels.csv")} download>
                    Labelled executions (CSV)
                </a>
                <a href={apiUrl(`/executions.csv?foi=${foi.value?.id ?? 0}`)} download>
                    All executions (CSV)
                </a>
                {window && (
                    <a href={apiUrl(window)} download>
                        Window of the timeline (Chrome JSON)
                    </a>
                )}
                {pictures
                    .filter(([name]) => views.value.includes(name))
                    .map(([name, kind]) => (
                        <button onClick={() => saveView(name)}>
                            {viewTitles[name]} ({kind})
                        </button>
                    ))}
            </div>
        </details>
    );
}
