// Saving: labels, executions and tables as CSV, the window of the timeline as Chrome JSON, views as pictures.
import { useRef } from "preact/hooks";
import { apiUrl } from "../api/http";
import { runKeys } from "../state/keys";
import { isCompareOpen } from "../state/overlays";
import { copyLink } from "../state/share";
import { foi, notice, run, views } from "../state/store";
import { viewTable } from "../state/views";
import { printCsv, Table } from "../format/csv";
import { PictureName, pngOf, svgOf, tableOf, TableName } from "./pictures";
import { windowShown } from "../state/timeline";

export function save(blob: Blob, name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function failed(title: string, error: unknown): void {
    const why = (error as Error).message;
    notice.value = { text: `${title} was not saved: ${why}.`, isError: true };
}

async function savePicture(
    name: PictureName,
    title: string,
    kind: "svg" | "png",
): Promise<void> {
    const of = run.value?.name ?? "snag";
    try {
        const svg = svgOf(name, title, foi.value ? `${of}, ${foi.value.name}` : of);
        if (!svg) throw new Error("there is nothing to see yet");
        const blob =
            kind === "png" ? await pngOf(svg) : new Blob([svg], { type: "image/svg+xml" });
        save(blob, `${of}-${name}.${kind}`);
    } catch (error) {
        failed(title, error);
    }
}

export function saveTable(table: Table, name: string, of = run.value?.name ?? "snag"): void {
    const blob = new Blob([printCsv(table)], { type: "text/csv;charset=utf-8" });
    save(blob, `${of}-${name}.csv`);
}

function CsvButton({ name, title }: { name: TableName; title: string }) {
    const saveIt = async () => {
        try {
            const table = await tableOf(name);
            if (!table) throw new Error("there is nothing to see yet");
            saveTable(table, name);
        } catch (error) {
            failed(title, error);
        }
    };
    return (
        <button
            aria-label={`${title} as CSV`}
            title="Save the table, all of it, as CSV"
            onClick={saveIt}
        >
            CSV
        </button>
    );
}

export function PictureButtons({ name, title }: { name: PictureName; title: string }) {
    return (
        <span class="together">
            {(["svg", "png"] as const).map((kind) => (
                <button
                    aria-label={`${title} as ${kind.toUpperCase()}`}
                    title={`Save the picture as ${kind.toUpperCase()}`}
                    onClick={() => savePicture(name, title, kind)}
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
                <button
                    onClick={copyLink}
                    title={`What is shown now, for somebody else (${runKeys.keyOf("copyLink")})`}
                >
                    Copy the link to what is shown
                </button>
                <button onClick={() => (isCompareOpen.value = true)}>
                    Compare with another run ...
                </button>
                <a href={apiUrl("/report.html")} download>
                    Report of the run (HTML, to be sent)
                </a>
                <a href={apiUrl("/labels.csv")} download>
                    Labelled executions (CSV)
                </a>
                <a href={apiUrl(`/executions.csv?foi=${foi.value?.id ?? 0}`)} download>
                    All executions (CSV)
                </a>
                <a href={apiUrl(`/fois/${foi.value?.id ?? 0}/model`)} download>
                    What was learnt (model for snag score)
                </a>
                {window && (
                    <a href={apiUrl(window)} download>
                        Window of the timeline (Chrome JSON)
                    </a>
                )}
                <span class="kinds">
                    The list, as shown
                    <CsvButton name="list" title="The list" />
                </span>
                {viewTable
                    .filter((view) => views.value.includes(view.name))
                    .map((view) => (
                        <span class="kinds" key={view.name}>
                            {view.title}
                            <PictureButtons name={view.name} title={view.title} />
                            {"isTable" in view && (
                                <CsvButton name={view.name} title={view.title} />
                            )}
                        </span>
                    ))}
            </div>
        </details>
    );
}
