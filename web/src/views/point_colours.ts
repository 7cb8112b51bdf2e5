// The colour of every execution in the overview, 4 bytes each.
import { numberColour, scaleColour } from "../format/colour";
import { abnormalColour, normalColour, plainColour, Rgb, sideColours } from "../format/palette";
import { ColourBy, Details, Executions } from "../state/store";

const shades = 256; /* of the scores */

/* Red, green, blue and alpha as they lie in memory. */
function pack([r, g, b]: Rgb, alpha: number): number {
    return new Uint32Array(Uint8Array.of(r, g, b, alpha).buffer)[0];
}

/* Which of a few colours an execution has. */
function palette(
    all: Executions,
    details: Details | null,
    by: ColourBy,
    plain: Rgb,
): { colours: Rgb[]; of: (tree: number) => number } {
    const { score, label, verdict } = all;
    if (by === "score") {
        let highest = 0;
        for (let i = 0; i < all.n; i++) highest = Math.max(highest, score[i]);
        const factor = (shades - 1) / (highest || 1);
        const colours = Array.from({ length: shades }, (_, i) => scaleColour(i / (shades - 1)));
        return { colours, of: (tree) => Math.max(0, Math.round(score[tree] * factor)) };
    }
    if (by === "label")
        return {
            colours: [normalColour, plain, abnormalColour],
            of: (tree) => Math.sign(label[tree]) + 1,
        };
    if (by === "rank" && details) {
        const { rank } = details;
        let last = 0;
        for (let i = 0; i < all.n; i++) last = Math.max(last, rank[i]);
        const colours = Array.from({ length: last + 1 }, (_, i) => numberColour(i));
        return { colours, of: (tree) => rank[tree] };
    }
    if (by === "side" && all.side) {
        const { side } = all;
        return { colours: sideColours, of: (tree) => side[tree] };
    }
    return { colours: [plain, abnormalColour], of: (tree) => (verdict[tree] ? 1 : 0) };
}

export function colourPoints(
    all: Executions,
    details: Details | null,
    by: ColourBy,
    isDark: boolean,
): Uint8Array {
    const out = new Uint32Array(all.n);
    const { verdict, label } = all;
    const { colours, of } = palette(
        all,
        details,
        by,
        isDark ? plainColour.dark : plainColour.light,
    );
    const light = colours.map((colour) => pack(colour, all.n > 50000 ? 140 : 220));
    const full = colours.map((colour) => pack(colour, 255));
    for (let i = 0; i < all.n; i++) out[i] = (verdict[i] || label[i] ? full : light)[of(i)];
    return new Uint8Array(out.buffer);
}
