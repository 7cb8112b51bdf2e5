// engines.mjs -- every package runs on the oldest Node.js that package.json promises, which is the one
// Debian 12 has: a newer one here would not notice.
import { readFile } from "node:fs/promises";

const { packages } = JSON.parse(
    await readFile(new URL("../package-lock.json", import.meta.url), "utf8"),
);
const major = (range) => Number(/\d+/.exec(range ?? "")?.[0] ?? 0);
const promised = major(packages[""].engines.node);
const wrong = Object.entries(packages).filter(([, p]) => major(p.engines?.node) > promised);
for (const [name, p] of wrong)
    console.error(`${name} ${p.version} needs Node.js ${p.engines.node}, not ${promised}`);
process.exit(wrong.length ? 1 : 0);
