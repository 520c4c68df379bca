import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { perchCommand } from "./perch-command.ts";
import { Problem } from "./problem.ts";

/** Addresses and keys by name, in a file that only its owner can read. */
export interface Profiles {
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}
export interface Profile {
  readonly url: string;
  readonly key: string;
}

export const profilesFile = ({ XDG_CONFIG_HOME, APPDATA }: NodeJS.ProcessEnv): string =>
  join(XDG_CONFIG_HOME || (process.platform === "win32" && APPDATA) || join(homedir(), ".config"), "perch/config.json");

export function readProfiles(env: NodeJS.ProcessEnv): Profiles {
  const file = profilesFile(env);
  if (!existsSync(file)) return { current: null, profiles: {} };
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Profiles;
  } catch {
    throw new Problem(`${file} is not JSON.`, `Repair or remove it, then run \`${perchCommand("login")}\` again.`);
  }
}

export function writeProfiles(env: NodeJS.ProcessEnv, profiles: Profiles): string {
  const file = profilesFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  // The mode above applies to new files only.
  chmodSync(file, 0o600);
  return file;
}
