// Saving: labels and executions as CSV, the window of the timeline as Chrome JSON, views as pictures.
import { useRef } from "preact/hooks";
import { apiUrl } from "../api/http";
import { foi, notice, run, views } from "../state/store";
import { ViewName, viewRow, viewTable } from "../state/views";
import { pngOf, svgOf } from "./pictures";
import { windowShown } from "./timeline_window";

function save(blob: Blob, name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function saveView(name: ViewName, kind: "svg" | "png"): Promise<void> {
    const { title } = viewRow(name);
    const of = run.value?.name ?? "snag";
    try {
        const svg = svgOf(name, `${of}: ${title}`);
        if (!svg) throw new Error("there is nothing to see yet");
        const blob =
            kind === "png" ? await pngOf(svg) : new Blob([svg], { type: "image/svg+xml" });
        save(blob, `${of}-${name}.${kind}`);
    } catch (error) {
        const why = (error as Error).message;
        notice.value = { text: `${title} was not saved: ${why}.`, isError: true };
    }
}

function PictureButtons({ name }: { name: ViewName }) {
    const { title } = viewRow(name);
    return (
        <span class="kinds">
            {title}
            {(["svg", "png"] as const).map((kind) => (
                <button
                    aria-label={`${title} (${kind.toUpperCase()})`}
                    onClick={() => saveView(name, kind)}
                >
                    {kind.toUpperCase()}
                </button>
            ))}
        </span>
    );
}

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
                {viewTable
                    .filter((view) => "isPicture" in view && views.value.includes(view.name))
                    .map(({ name }) => (
                        <PictureButtons key={name} name={name} />
                    ))}
            </div>
        </details>
    );
}
