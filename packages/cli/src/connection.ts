import { findDevelopment } from "./dev-connection.ts";
import { didYouMean } from "./nearest.ts";
import { perchCommand } from "./perch-command.ts";
import { Problem, UsageError } from "./problem.ts";
import { readProfiles } from "./profiles.ts";

export interface Connection {
  readonly url: string;
  readonly key: string;
  /** Its origin, for `doctor`, for errors and in JSON. */
  readonly source: string;
  /** Why it is this one, as a sentence without its end. */
  readonly reason: string;
  /** It was found in the file that `perch dev` wrote. On that server, the draft answers. */
  readonly isDev?: true;
}

interface ConnectionOptions {
  readonly profile?: string | undefined;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

const profileSource = (name: string): string => `profile ${name}`;

function findProfile(env: NodeJS.ProcessEnv, name?: string, namedBy = ""): Connection | undefined {
  const { current, profiles } = readProfiles(env);
  const wanted = name ?? current;
  if (wanted === null) return undefined;
  const profile = Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined;
  if (!profile) {
    const known = Object.keys(profiles).join(", ") || "none yet";
    const suggestion = didYouMean(wanted, Object.keys(profiles));
    throw new Problem(
      `There is no profile ${wanted}.${suggestion}`,
      `Profiles: ${known}. \`${perchCommand("login")}\` makes one.`,
    );
  }
  const reason = name === undefined ? `${wanted} is the current profile` : `${namedBy} names the profile ${wanted}`;
  return { ...profile, source: profileSource(wanted), reason };
}

/**
 * `--url` and `--key`. One without the other is refused, because the rest would come from elsewhere, and a key is for
 * its own server only.
 */
function findOptions({ url, key }: ConnectionOptions): Connection | undefined {
  if (url && key) return { url, key, source: "options", reason: "--url and --key are given" };
  if (url)
    throw new Problem(
      "--url is given without --key. A key from elsewhere is not sent to this address.",
      `Save a key for it with \`${perchCommand(`login NAME --url ${url}`)}\`, set both PERCH_URL and PERCH_API_KEY, or give --key too.`,
    );
  if (key)
    throw new Problem(
      "--key is given without --url. It is not sent to an address from elsewhere.",
      "Give --url too, or set both PERCH_URL and PERCH_API_KEY.",
    );
  return undefined;
}

/** The same for the environment, if a file of the folder may have set one of the two. */
function findEnvironment({ PERCH_URL: url, PERCH_API_KEY: key }: NodeJS.ProcessEnv): Connection | undefined {
  if (url && key) return { url, key, source: "environment", reason: "PERCH_URL and PERCH_API_KEY are set" };
  if (!url && !key) return undefined;
  const [given, missing] = url ? ["PERCH_URL", "PERCH_API_KEY"] : ["PERCH_API_KEY", "PERCH_URL"];
  throw new Problem(
    `${given} is set without ${missing}. An address and a key must come from one source.`,
    `Set ${missing} too, or unset ${given}, or name a profile with --profile.`,
  );
}

/**
 * In order of precedence: options, named profile, environment, `perch dev` in this folder or above, current profile.
 * The address and the key come from the same source, so that a key is never sent to an address of another party. A
 * `perch dev` that has stopped still counts: after it crashes, `perch apply` must fail and not change the server of the
 * profile, which may be production.
 */
export function findConnection(options: ConnectionOptions, env: NodeJS.ProcessEnv, cwd: string): Connection {
  if (options.profile && (options.url || options.key))
    throw new UsageError(
      "Give either --profile, or --url and --key: a profile's key is for the profile's address only.",
    );
  const found =
    findOptions(options) ??
    (options.profile ? findProfile(env, options.profile, "--profile") : undefined) ??
    findEnvironment(env) ??
    (env.PERCH_PROFILE ? findProfile(env, env.PERCH_PROFILE, "PERCH_PROFILE") : undefined) ??
    findDevelopment(cwd) ??
    findProfile(env);
  if (found) return found;
  throw new Problem(
    "No server to talk to.",
    `Start one with \`${perchCommand("dev")}\`, or save one with \`${perchCommand("login")}\`, or set PERCH_URL and PERCH_API_KEY.`,
  );
}

/** The message that the current profile is not used, and how to use it nevertheless; undefined if it is used. */
export function passedOver({ url, source, reason }: Connection, env: NodeJS.ProcessEnv): string | undefined {
  const { current: name } = readProfiles(env);
  if (name === null || source === profileSource(name)) return undefined;
  return `The current profile, ${name}, is not used here: ${reason}, so commands go to ${url}. --profile ${name} uses it.`;
}
