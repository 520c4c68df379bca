import { RequestVerificationError } from "../errors.ts";
import { importKeys, type VerificationJwk, type VerificationKey } from "./verification-key.ts";

type Fetch = typeof globalThis.fetch;
type Keys = ReadonlyMap<string, VerificationKey>;

export interface KeyDirectory {
  /** The key with this id; undefined if Perch does not list it. */
  readonly find: (keyId: string, nowMs: number) => Promise<VerificationKey | undefined>;
}

const directoryPath = "/.well-known/http-message-signatures-directory";
const timeoutMs = 5_000;
const maxCharacters = 262_144;
const defaultMaxAgeSeconds = 300;
/** A lower bound for the server's setting, so that calls do not each wait for the directory. */
const minMaxAgeSeconds = 60;
const maxMaxAgeSeconds = 86_400;
/** Any caller can name keys that do not exist, which must not make the client ask more often. */
const unknownKeyPauseMs = 60_000;
const failurePauseMs = 5_000;
/** Keys that are known outlive a failure of the directory by this much. */
const maxStaleMs = 3_600_000;

/**
 * The address of the directory of an installation. Over plain HTTP an attacker on the way could insert a key of their
 * own.
 */
export function directoryUrl(installation: string): string {
  const { protocol, hostname, origin, pathname } = new URL(installation);
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  if (pathname !== "/" || !(protocol === "https:" || (protocol === "http:" && isLoopback)))
    throw new TypeError(
      "Give the origin of Perch as directory, with https, such as https://perch.example; or give keys",
    );
  return `${origin}${directoryPath}`;
}

function maxAgeSeconds({ headers }: Response): number {
  const asked = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(headers.get("cache-control") ?? "")?.[1];
  const age = Number(headers.get("age") ?? 0) || 0;
  const seconds = (asked === undefined ? defaultMaxAgeSeconds : Number(asked)) - age;
  return Math.min(Math.max(seconds, minMaxAgeSeconds), maxMaxAgeSeconds);
}

async function fetchKeys(url: string, fetch: Fetch): Promise<{ readonly keys: Keys; readonly maxAgeMs: number }> {
  const signal = AbortSignal.timeout(timeoutMs);
  // A redirect could lead to keys of another server.
  const response = await fetch(url, { headers: { accept: "application/json, */*" }, redirect: "manual", signal });
  const text = await response.text();
  if (response.status !== 200 || text.length > maxCharacters)
    throw new Error(`${url} answered ${response.status} with ${text.length} characters`);
  const { keys } = JSON.parse(text) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) throw new Error(`${url} is not a list of keys`);
  const jwks = keys.filter((key): key is VerificationJwk => typeof key === "object" && key !== null);
  return { keys: await importKeys(jwks), maxAgeMs: maxAgeSeconds(response) * 1000 };
}

function createKeyDirectory(url: string, fetch: Fetch): KeyDirectory {
  let keys: Keys | undefined;
  let freshUntilMs = 0;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  let asking: Promise<void> | undefined;

  const ask = async (nowMs: number): Promise<void> => {
    askedAtMs = nowMs;
    try {
      const answer = await fetchKeys(url, fetch);
      ({ keys } = answer);
      freshUntilMs = nowMs + answer.maxAgeMs;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
  };
  /** Those who need the keys at the same time wait for the same answer. */
  const askOnce = (nowMs: number): Promise<void> => {
    asking ??= ask(nowMs).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const isPauseOver = (nowMs: number): boolean =>
    nowMs - askedAtMs >= (failure === undefined ? unknownKeyPauseMs : failurePauseMs);
  return {
    find: async (keyId, nowMs) => {
      const isKnown = keys?.has(keyId) && nowMs < freshUntilMs;
      if (!isKnown && (asking || isPauseOver(nowMs))) await askOnce(nowMs);
      if (keys === undefined || nowMs >= freshUntilMs + maxStaleMs)
        throw new RequestVerificationError(
          "directory_unavailable",
          `The keys of Perch could not be fetched from ${url}. Check that this service can reach it; the call will be repeated.`,
          failure,
        );
      return keys.get(keyId);
    },
  };
}

/** By the function that fetches, so that a test with its own does not see the keys of another. */
const directories = new WeakMap<Fetch, Map<string, KeyDirectory>>();

/** One directory for all calls that name the same installation, because it caches the keys. */
export function keyDirectoryOf(installation: string, fetch: Fetch): KeyDirectory {
  const url = directoryUrl(installation);
  const known = directories.get(fetch) ?? new Map<string, KeyDirectory>();
  directories.set(fetch, known);
  const directory = known.get(url) ?? createKeyDirectory(url, fetch);
  known.set(url, directory);
  return directory;
}
