import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "./problem.ts";
import { profilesFile } from "./profiles.ts";

/**
 * What this user has agreed to, or made. It is kept beside the profiles, outside of every checkout: whoever wrote a
 * checkout can put any file into it.
 */
export interface Remembered {
  readonly has: (...parts: readonly string[]) => boolean;
  readonly add: (...parts: readonly string[]) => void;
}

const digestOf = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");

/** Only digests are stored, so the file tells nobody which variables and hosts there are. */
export function createRemembered(env: NodeJS.ProcessEnv): Remembered {
  const file = join(dirname(profilesFile(env)), "remembered.json");
  const read = (): string[] => {
    if (!existsSync(file)) return [];
    try {
      return JSON.parse(readFileSync(file, "utf8")) as string[];
    } catch {
      throw new Problem(`${file} is not JSON.`, "Remove it: perch dev asks again what it remembers.");
    }
  };
  return {
    has: (...parts) => read().includes(digestOf(parts)),
    add: (...parts) => {
      const known = read();
      const digest = digestOf(parts);
      if (known.includes(digest)) return;
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, `${JSON.stringify([...known, digest])}\n`, { mode: 0o600 });
      // The mode above applies to new files only.
      chmodSync(file, 0o600);
    },
  };
}
