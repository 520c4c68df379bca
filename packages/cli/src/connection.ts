import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "./problem.ts";
import { readProfiles } from "./profiles.ts";

export interface Connection {
  readonly url: string;
  readonly key: string;
  /** Where it comes from, for `doctor` and for errors. */
  readonly source: string;
}

interface ConnectionOptions {
  readonly profile?: string | undefined;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

/** What `perch dev` wrote, in this folder or one above. */
function findDevelopment(cwd: string): Connection | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = join(folder, ".perch/dev.json");
    if (existsSync(file)) {
      const { url, key } = JSON.parse(readFileSync(file, "utf8")) as { url?: string; key?: string };
      if (url && key) return { url, key, source: `perch dev in ${folder}` };
    }
    if (folder === dirname(folder)) return undefined;
  }
}

function findProfile(env: NodeJS.ProcessEnv, name: string | undefined): Connection | undefined {
  const { current, profiles } = readProfiles(env);
  const wanted = name ?? current;
  if (wanted === null) return undefined;
  const profile = profiles[wanted];
  if (!profile) {
    const known = Object.keys(profiles).join(", ") || "none yet";
    throw new Problem(`There is no profile ${wanted}.`, `Profiles: ${known}. Make one with perch login.`);
  }
  return { ...profile, source: `profile ${wanted}` };
}

/** In order of precedence: options, environment, named profile, `perch dev` in this folder or above, current profile. */
export function findConnection(options: ConnectionOptions, env: NodeJS.ProcessEnv, cwd: string): Connection {
  const name = options.profile ?? env.PERCH_PROFILE;
  const stored = name === undefined ? (findDevelopment(cwd) ?? findProfile(env, undefined)) : findProfile(env, name);
  const url = options.url ?? (options.profile ? undefined : env.PERCH_URL) ?? stored?.url;
  const key = options.key ?? (options.profile ? undefined : env.PERCH_API_KEY) ?? stored?.key;
  if (!url || !key)
    throw new Problem(
      "No server to talk to.",
      "Start one with perch dev, or run perch login, or set PERCH_URL and PERCH_API_KEY.",
    );
  const isOverridden = url !== stored?.url || key !== stored?.key;
  return { url, key, source: isOverridden ? "options or environment" : (stored?.source ?? "options or environment") };
}
