// The few things that the drawings of this page ask of a canvas, written down as SVG: what is drawn on
// the screen by a canvas is saved as lines and text by the same code.

export type Pen = Pick<
    CanvasRenderingContext2D,
    | "arc"
    | "beginPath"
    | "clip"
    | "fill"
    | "fillRect"
    | "fillStyle"
    | "fillText"
    | "font"
    | "globalAlpha"
    | "lineTo"
    | "lineWidth"
    | "measureText"
    | "moveTo"
    | "rect"
    | "restore"
    | "save"
    | "setLineDash"
    | "stroke"
    | "strokeRect"
    | "strokeStyle"
    | "textAlign"
    | "textBaseline"
>;

const anchors: Record<string, string> = { center: "middle", right: "end", end: "end" };
const baselines: Record<string, string> = { middle: "central", top: "text-before-edge" };

export function escapeXml(text: string): string {
    return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/* As attributes: the policy of the page forbids styles in a drawing. */
function fontAttributes(font: string): Record<string, string> {
    const [, weight, size, family] = /^(bold )?(\d+)px (.*)$/.exec(font) ?? [];
    return {
        "font-size": size ?? "11",
        "font-family": family ?? "sans-serif",
        ...(weight && { "font-weight": "bold" }),
    };
}

function round(x: number): string {
    return String(Math.round(x * 100) / 100);
}

export class SvgPen implements Pen {
    fillStyle: string | CanvasGradient | CanvasPattern = "#000";
    strokeStyle: string | CanvasGradient | CanvasPattern = "#000";
    font = "10px sans-serif";
    globalAlpha = 1;
    lineWidth = 1;
    textAlign: CanvasTextAlign = "start";
    textBaseline: CanvasTextBaseline = "alphabetic";
    private readonly parts: string[] = [];
    private path = "";
    private dash = "";
    private clips = 0;
    private readonly open: number[] = []; /* per save(): groups to be closed by restore() */

    /* measure: a canvas of the page knows how wide a text is. name: of one of several pictures
       in a document, whose ids differ by it. */
    constructor(
        private readonly measure: (text: string, font: string) => number,
        private readonly name = "",
    ) {}

    private add(tag: string, attributes: Record<string, string | number>, text?: string): void {
        const list = Object.entries(attributes)
            .map(
                ([key, value]) =>
                    `${key}="${escapeXml(typeof value === "number" ? round(value) : value)}"`,
            )
            .join(" ");
        this.parts.push(
            text === undefined
                ? `<${tag} ${list}/>`
                : `<${tag} ${list}>${escapeXml(text)}</${tag}>`,
        );
    }

    private filled(): Record<string, string | number> {
        return {
            fill: String(this.fillStyle),
            ...(this.globalAlpha < 1 && { "fill-opacity": this.globalAlpha }),
        };
    }

    private lined(): Record<string, string | number> {
        return {
            fill: "none",
            stroke: String(this.strokeStyle),
            "stroke-width": this.lineWidth,
            ...(this.dash && { "stroke-dasharray": this.dash }),
            ...(this.globalAlpha < 1 && { "stroke-opacity": this.globalAlpha }),
        };
    }

    fillRect(x: number, y: number, width: number, height: number): void {
        this.add("rect", { x, y, width, height, ...this.filled() });
    }

    strokeRect(x: number, y: number, width: number, height: number): void {
        this.add("rect", { x, y, width, height, ...this.lined() });
    }

    /* most: as on a canvas, wider text is squeezed */
    fillText(text: string, x: number, y: number, most?: number): void {
        const isWide = most !== undefined && this.measure(text, this.font) > most;
        this.add(
            "text",
            {
                x,
                y,
                ...fontAttributes(this.font),
                "text-anchor": anchors[this.textAlign] ?? "start",
                "dominant-baseline": baselines[this.textBaseline] ?? "auto",
                ...(isWide && { textLength: most, lengthAdjust: "spacingAndGlyphs" }),
                ...this.filled(),
            },
            text,
        );
    }

    measureText(text: string): TextMetrics {
        return { width: this.measure(text, this.font) } as TextMetrics;
    }

    setLineDash(dash: Iterable<number>): void {
        this.dash = [...dash].join(" ");
    }

    beginPath(): void {
        this.path = "";
    }

    moveTo(x: number, y: number): void {
        this.path += `M${round(x)} ${round(y)}`;
    }

    lineTo(x: number, y: number): void {
        this.path += `${this.path ? "L" : "M"}${round(x)} ${round(y)}`;
    }

    rect(x: number, y: number, width: number, height: number): void {
        this.path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
    }

    /* A whole circle: nothing here draws less. */
    arc(x: number, y: number, radius: number): void {
        const [r, d] = [round(radius), round(2 * radius)];
        this.path += `M${round(x - radius)} ${round(y)}a${r} ${r} 0 1 0 ${d} 0a${r} ${r} 0 1 0 ${round(-2 * radius)} 0`;
    }

    stroke(): void {
        this.add("path", { d: this.path, ...this.lined() });
    }

    fill(): void {
        this.add("path", { d: this.path, ...this.filled() });
    }

    save(): void {
        this.open.push(0);
    }

    clip(): void {
        const id = `${this.name}clip${this.clips++}`;
        this.parts.push(
            `<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`,
        );
        this.open[this.open.length - 1]++;
    }

    restore(): void {
        for (let n = this.open.pop() ?? 0; n > 0; n--) this.parts.push("</g>");
    }

    /* Something else that is SVG. */
    insert(svg: string): void {
        this.parts.push(svg);
    }

    toString(): string {
        return this.parts.join("\n");
    }
}
