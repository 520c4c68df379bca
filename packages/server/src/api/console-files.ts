import { existsSync, globSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Encoding, etagOfFile, type ServedFile } from "./served-file.ts";

/** The suffix under which the build keeps each form of a file. */
const suffixes = { br: ".br", gzip: ".gz" } as const satisfies Record<Encoding, string>;

const contentTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".md": "text/plain; charset=utf-8",
};

export interface ConsoleFiles {
  /**
   * The page for every address that does not name a file. It has `styleNonceMark` in place of each response's own
   * nonce.
   */
  readonly page: string;
  /** By path below `/console/`. */
  readonly files: ReadonlyMap<string, ServedFile>;
}

export const styleNonceMark = "__STYLE_NONCE__";

/** Where the package with the built console is. A checkout has it before it is built, without the files. */
export const consoleDir = (): string =>
  fileURLToPath(new URL("dist", import.meta.resolve("@perch/console/package.json")));

function readFile(dir: string, path: string, contentType: string): ServedFile {
  const file = join(dir, path);
  const content = readFileSync(file);
  const encoded = Object.entries(suffixes).flatMap(([encoding, suffix]) =>
    existsSync(file + suffix) ? [[encoding as Encoding, readFileSync(file + suffix)] as const] : [],
  );
  return {
    contentType,
    // The name of an asset changes with its content, so a browser never needs to ask for it again.
    cacheControl: path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    etag: etagOfFile(content),
    content,
    encoded: new Map(encoded),
  };
}

/** Reads everything once, so that no request touches the disk and a path from outside is only ever looked up. Undefined: not built. */
export function readConsoleFiles(dir = consoleDir()): ConsoleFiles | undefined {
  const pageFile = join(dir, "index.html");
  if (!existsSync(pageFile)) return undefined;
  const files = globSync("**/*", { cwd: dir }).flatMap((path) => {
    const contentType = contentTypes[extname(path)];
    return contentType === undefined ? [] : [[path, readFile(dir, path, contentType)] as const];
  });
  return { page: readFileSync(pageFile, "utf8"), files: new Map(files) };
}
