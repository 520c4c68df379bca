import { readFileSync } from "node:fs";
import type { Setting } from "./setting.ts";

/** The variable that names the file with a secret setting's value. */
export const fileVariable = (variable: string): string => `${variable}_FILE`;

interface Read {
  /** The environment with the values from files in it. */
  readonly values: Readonly<Record<string, string>>;
  /** One line each, by the setting whose value is unknown because of it. */
  readonly problems: ReadonlyMap<string, string>;
}

function readSecret(name: string, file: string): { readonly value: string } | { readonly problem: string } {
  try {
    const value = readFileSync(file, "utf8").replace(/[\r\n]+$/, "");
    return value === "" ? { problem: `${name} names ${file}, which is empty.` } : { value };
  } catch (error) {
    return { problem: `${name} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).` };
  }
}

/** Reads the secrets that are given as files, as container platforms mount them: they are then in no environment. */
export function readSecretFiles(given: Readonly<Record<string, string>>, settings: readonly Setting[]): Read {
  const values = { ...given };
  const problems = new Map<string, string>();
  for (const { variable, isSecret } of settings) {
    const name = fileVariable(variable);
    const file = given[name];
    if (!isSecret || file === undefined) continue;
    if (given[variable] !== undefined) {
      problems.set(variable, `${variable} and ${name} are both set. Set one of them.`);
      continue;
    }
    const read = readSecret(name, file);
    if ("problem" in read) problems.set(variable, read.problem);
    else values[variable] = read.value;
  }
  return { values, problems };
}
