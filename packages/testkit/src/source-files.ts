import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export const root = join(import.meta.dirname, "../../..");

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
}

export interface Edge {
  readonly from: string;
  /** A path from the root, or a package's name. */
  readonly to: string;
  /** Only types are imported, so no code of the target is loaded. */
  readonly typesOnly: boolean;
}

/** Every TypeScript file below these folders, without generated and built files. */
export const sourceFiles = (folders: readonly string[], pattern = "**/*.ts"): SourceFile[] =>
  folders.flatMap((folder) =>
    globSync(pattern, { cwd: join(root, folder), exclude: ["**/node_modules", "**/dist", "**/*generated-*"] }).map(
      (name) => {
        const text = readFileSync(join(root, folder, name), "utf8");
        return { path: `${folder}/${name}`, text, lines: text.split("\n").length - 1 };
      },
    ),
  );

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s[^;"]*?from\s+"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)|(?:^|\n)import\s+"([^"]+)"/g;

function importsOnlyTypes(statement: string): boolean {
  if (/^\s*(?:import|export)\s+type\s/.test(statement)) return true;
  const names = /^\s*(?:import|export)\s*\{([^}]*)\}/.exec(statement)?.[1]?.split(",") ?? [];
  const given = names.map((name) => name.trim()).filter((name) => name !== "");
  return given.length > 0 && given.every((name) => name.startsWith("type "));
}

export const importsOf = ({ path, text }: SourceFile): Edge[] =>
  [...text.matchAll(importPattern)].map(([statement, from, dynamic, bare]) => {
    const target = from ?? dynamic ?? bare ?? "";
    const to = target.startsWith(".") ? relative(root, join(root, dirname(path), target)) : target;
    return { from: path, to, typesOnly: importsOnlyTypes(statement) };
  });
