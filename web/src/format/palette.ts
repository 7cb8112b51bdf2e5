// Every colour that scripts draw with, on the page and in reports: the functions that choose among them are in colour.ts,
// kind_colour.ts and change.ts. What follows light, dark and paper is in theme.css; where both have a colour, a test compares them.
// People of all kinds of sight tell them apart (Okabe and Ito; cividis; ColorBrewer's PuOr). Vermilion is kept for anomalies.

export type Rgb = [number, number, number];

export function rgb(hex: string): Rgb {
    return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

function rgbs(list: string): Rgb[] {
    return list.split(" ").map(rgb);
}

export const anomalyColour = rgb("d55e00");
export const abnormalColour = anomalyColour;
export const normalColour = rgb("0072b2");
export const sideColours = rgbs("0072b2 e69f00"); /* of runs before, and after */

export const hues = rgbs("56b4e9 e69f00 009e73 cc79a7 f0e442 0072b2");
export const shades = [0, 0.35, -0.25]; /* towards white, or black */

/* Scores, from low to high. */
export const cividis = rgbs("00204d 424e6c 7c7b78 bcaf6f ffea46");

/* Of what is strange, from the least to the most: away from what they are drawn on. */
export const hots = {
    light: [rgb("fdd0a2"), anomalyColour],
    dark: [rgb("8a5020"), rgb("ff8a3d")],
};

/* What heat maps are drawn on; as --hover of theme.css. */
export const papers = { light: rgb("f1f4f8"), dark: rgb("232932") };

/* Changes from much faster to much slower, with the same in the middle. */
export const changes = rgbs("542788 8073ac b2abd2 d8dae0 fdb863 e08214 b35806");

/* Of points that have no colour of their own, and around those that stay; in light and dark. */
export const plainColour = { light: rgb("6e7887"), dark: rgb("96a0af") };
export const outlineColour = { light: rgb("141414"), dark: rgb("ffffff") };

/* Of calls of which it is not known what is usual, or not here yet. */
export const unknownColour = rgb("969696");
export const comingColour = rgb("ececec");

function lighter(colour: Rgb): Rgb {
    return colour.map((c) => Math.round(c + (255 - c) * 0.55)) as Rgb;
}

/* Of even, and of odd depths. */
export type Family = [Rgb[], Rgb[]];

/* Of modules of own code; the last is of all others. */
export const modules = [
    "56b4e9 3c96cd",
    "009e73 008460",
    "84b23c 709c2c",
    "96694b 80583e",
    "40babe 2ea0a6",
    "767634 626228",
    "788ca5 647892",
].map((shades): Family => [rgbs(shades), rgbs(shades).map(lighter)]);

export const families: Record<string, Family> = {
    user: modules[0],
    loop: [rgbs("0072b2"), rgbs("3c5582")],
    mpi: [rgbs("e69f00"), rgbs("f5c864")],
    openmp: [rgbs("cc79a7"), rgbs("e4b4d0")],
    io: [rgbs("b0a078"), rgbs("d6caaa")],
    gpu: [rgbs("aa96e1 9680d2"), rgbs("cdc0f5 beaeeb")],
    runtime: [rgbs("f0e442"), rgbs("f7f0a0")],
    tracer: [rgbs("969696"), rgbs("c3c3c3")],
};
