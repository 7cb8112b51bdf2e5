// gpu_trace.mjs -- a small trace of a program that launches kernels on three streams of a GPU, and of the memory that it
// uses, as cases need it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const steps = 6;
export const kernels = 3; /* of a step, one a stream, launched every 100 us; the k-th begins 200 k + 150 us later */

/* As PyTorch's profiler writes it: times in us. */
function trace() {
    const all = [{ ph: "M", name: "process_labels", pid: 0, args: { labels: "GPU 0" } }];
    const call = (tid, name, cat, ts, dur) => {
        const pid = cat === "kernel" ? 0 : 7;
        all.push({ ph: "X", pid, tid, name, cat, ts, dur });
        return { pid, tid, ts };
    };
    for (let step = 0; step < steps; step++) {
        const begin = 2000 * step;
        call(7, "step", "cpu_op", begin, 1900);
        const args = { used: 100 * (step + 1) };
        all.push({ ph: "C", pid: 7, tid: 7, name: "memory", ts: begin + 10, args });
        for (let k = 0; k < kernels; k++) {
            const id = kernels * step + k;
            const from = call(7, "cudaLaunchKernel", "cuda_runtime", begin + 100 * (k + 1), 50);
            const to = call(
                20 + k,
                `kernel_${k}`,
                "kernel",
                begin + 100 * (k + 1) + 200 * k + 150,
                400,
            );
            all.push({ ph: "s", id, cat: "ac2g", name: "ac2g", ...from });
            all.push({ ph: "f", bp: "e", id, cat: "ac2g", name: "ac2g", ...to });
        }
    }
    return JSON.stringify({ traceEvents: all });
}

export async function serveGpuTrace(snag) {
    const place = mkdtempSync(join(tmpdir(), "snag-launched-"));
    const file = join(place, "gpu.json");
    writeFileSync(file, trace());
    await snag("analyze", file, "--foi", "step", "-o", "gpu.snag", "--quiet");
    rmSync(place, { recursive: true });
    return ["gpu.snag"];
}
