import { readdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";

/** A file with agents. */
export interface AgentSource {
  readonly file: string;
  /** As the user would type it, for messages: `agents/support.yaml`. */
  readonly name: string;
}

export const defaultFile = "agent.yaml";

export const isAgentFileName = (name: string): boolean => /^[^.].*\.ya?ml$/.test(name);

export const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A folder stands for all of its `*.yaml` and `*.yml`, by name. Whether the files exist is not checked. */
export function listSources(cwd: string, paths: readonly string[]): AgentSource[] {
  const found = paths.flatMap((path) => {
    const full = resolve(cwd, path);
    if (!isFolder(full)) return [{ file: full, name: path }];
    const names = readdirSync(full).filter((name) => isAgentFileName(name) && !isFolder(join(full, name)));
    return names.sort().map((name) => ({ file: join(full, name), name: join(path, name) }));
  });
  return [...new Map(found.map((source) => [source.file, source])).values()];
}

/** The same for a command that needs at least one file of each path. */
export function requireSources(cwd: string, paths: readonly string[]): AgentSource[] {
  const empty = paths.find((path) => listSources(cwd, [path]).length === 0);
  if (empty !== undefined)
    throw new Problem(
      `${empty} has no *.yaml or *.yml.`,
      `Make one with \`${perchCommand("init")}\`, or name another folder with -f.`,
    );
  return listSources(cwd, paths);
}

export const sourceOf = (file: string): AgentSource => ({ file, name: basename(file) });
