// Streams of a GPU as traces name them, "GPU 3, stream 7" (PyTorch, TAU) or "HIP[0:1]" (Score-P): which device, and
// which of its streams.

export interface StreamWords {
    device: string; /* stands above its streams */
    stream: string;
}

export function streamWords(name: string, thread: number): StreamWords {
    const [, device, stream] = /^(.+), (stream .+)$/.exec(name) ?? [];
    if (device) return { device, stream };
    const [, system, number, queue] = /^(\w+)\[(\d+):(\d+)\]$/.exec(name) ?? [];
    if (system) return { device: `${system} device ${number}`, stream: `stream ${queue}` };
    return { device: "GPU", stream: name || `.${thread}` };
}
