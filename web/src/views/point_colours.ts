// The colour of every execution in the overview, 4 bytes each.
import { abnormalColour, normalColour, numberColour, Rgb, scaleColour } from "../format/colour";
import { ColourBy, Executions } from "../state/store";

export function colourPoints(all: Executions, by: ColourBy, isDark: boolean): Uint8Array {
    const rgba = new Uint8Array(all.n * 4);
    const plain: Rgb = isDark ? [150, 160, 175] : [110, 120, 135];
    let highest = 0;
    if (by === "score")
        for (let i = 0; i < all.n; i++) highest = Math.max(highest, all.score[i]);
    const colourOf = (i: number): Rgb => {
        if (by === "score") return scaleColour(all.score[i] / (highest || 1));
        if (by === "rank") return numberColour(all.rank[i]);
        if (by === "label")
            return all.label[i] > 0 ? abnormalColour : all.label[i] < 0 ? normalColour : plain;
        return all.verdict[i] ? abnormalColour : plain;
    };
    const alpha = all.n > 50000 ? 140 : 220;
    for (let i = 0; i < all.n; i++) {
        const [r, g, b] = colourOf(i);
        rgba[4 * i] = r;
        rgba[4 * i + 1] = g;
        rgba[4 * i + 2] = b;
        rgba[4 * i + 3] = all.verdict[i] || all.label[i] ? 255 : alpha;
    }
    return rgba;
}
