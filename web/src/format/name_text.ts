// Names of other people's functions in texts: those that are longer than a line, and those that are read from right to
// left.

const mostLetters = 56;

/* What is left has the beginning and the end, where names of one template differ. */
export function foldMiddle(name: string, most = mostLetters): string {
    const letters = [...name];
    if (letters.length <= most) return name;
    const head = Math.ceil((most - 1) * 0.6);
    const tail = most - 1 - head;
    return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - tail).join("")}`;
}

const fromTheRight =
    /[\w$:]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff][\w$:\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]*/g;

/* Each such name by itself (Unicode's isolates), so that numbers beside it stay where they are said. */
export function isolate(text: string): string {
    return text.replace(fromTheRight, "\u2068$&\u2069");
}

/* What stays on one line, and what is between: numbers with their units, "3.05 s", are every second part. */
export function numbersApart(text: string): string[] {
    return text.split(
        /((?:^|(?<=[\s(]))[(+−-]?\d[\d,.]* (?:%|[num]?s|B|[KMGT]iB|bytes)(?!\w)[),.;:]*)/,
    );
}

const mostWhole = 12; /* letters of a word that is never broken */
const mark = "\u200b";

/* Where a long name may go on in the next line: behind "::", "_", "(", "/", "<", "," and "…", before "@" and ".c", and between
   theseWords. A name that is broken elsewhere reads as two. */
export function pieces(text: string): string[] {
    return text
        .replace(/\S+/gu, (word) =>
            [...word].length <= mostWhole
                ? word
                : word.replace(
                      /(?:[^_](?:::|_+|[(/<,])|…)(?=.)|\p{Ll}(?=\p{Lu})|.(?=@|\.[\p{L}_])/gu,
                      `$&${mark}`,
                  ),
        )
        .split(mark);
}
