import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

/**
 * One bundle of the server and its dependencies, for the many processes that tests start: from it, a node starts with less
 * than half of the processor time. The full tier starts `src/main.ts`, which is what is published.
 */

const server = join(import.meta.dirname, "../../../server");

/** These find their own files by a path, or are native. */
const external = [/^node:/, "onnxruntime-node", "pino", "thread-stream", "pg-native"];

/** A file that finds others by its own location (SQL, manifests, worker threads) finds them in the sources. */
const keepPlaces = {
  name: "keep-places",
  transform: (code: string, id: string) =>
    id.includes("/packages/") && code.includes("import.meta.")
      ? code
          .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
          .replaceAll("import.meta.filename", JSON.stringify(id))
          .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      : undefined,
};

/** Writes the bundle, and returns the file that starts the server. */
export async function bundleServer(): Promise<string> {
  const folder = join(server, "bundle");
  const bundle = await rolldown({
    input: join(server, "src/main.ts"),
    platform: "node",
    external,
    plugins: [keepPlaces],
    // A call whose result is not used may be there because it throws.
    treeshake: false,
    logLevel: "silent",
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", cleanDir: true, minify: false });
  return join(folder, "main.mjs");
}

if (import.meta.main) console.log(await bundleServer());
