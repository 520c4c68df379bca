import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseCertificates, type ReadAuthorities } from "./certificate-rules.ts";

interface AuthorityFiles {
  /** The operator's own file, as a full path. */
  readonly instance: string | undefined;
  /** Agents' settings may only name files in this directory, so that a tenant cannot make the server read any file. */
  readonly directory: string | undefined;
}

const cacheTtlMs = 60_000;

/** Reads CA files and caches them for a minute, so that a new file takes effect without a restart. */
export function createReadAuthorities({ instance, directory }: AuthorityFiles, now: () => number): ReadAuthorities {
  const cache = new Map<string, { readonly certificates: ReturnType<ReadAuthorities>; readonly atMs: number }>();
  return (name) => {
    const path = name === instance ? name : directory && join(directory, basename(name));
    if (!path) return [];
    const cached = cache.get(path);
    if (cached && now() - cached.atMs < cacheTtlMs) return cached.certificates;
    let certificates: ReturnType<ReadAuthorities> = [];
    try {
      certificates = parseCertificates(readFileSync(path, "utf8"));
    } catch {
      // Missing or unreadable: no client certificate is accepted.
    }
    if (cache.size > 1000) cache.clear();
    cache.set(path, { certificates, atMs: now() });
    return certificates;
  };
}
