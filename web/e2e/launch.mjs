// launch.mjs -- starts a program that serves a page, or others.
import { spawn } from "node:child_process";

const startMs = 30000;

/* Waits for the URL it prints. cwd: where it runs. */
export async function launch(command, args, cwd = undefined) {
    const child = spawn(command, args, { cwd });
    const url = await new Promise((done, fail) => {
        let text = "";
        const timer = setTimeout(
            () => fail(new Error(`the server does not start: ${text}`)),
            startMs,
        );
        const read = (data) => {
            text += data;
            const match = /(?:http|tcp):\/\/[^\s]+/.exec(text);
            if (!match) return;
            clearTimeout(timer);
            done(match[0]);
        };
        child.stdout.on("data", read);
        child.stderr.on("data", read);
        child.on("exit", (code) => fail(new Error(`the server ended with ${code}: ${text}`)));
    });
    const end = async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = new Promise((done) => child.on("exit", done));
        child.kill("SIGTERM");
        await ended;
    };
    return { url, end };
}
