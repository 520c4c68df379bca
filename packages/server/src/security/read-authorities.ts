import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Authorities, parseCertificates } from "./certificate-rules.ts";

interface AuthorityFiles {
  /** The operator's own file, named in full. */
  readonly instance: string | undefined;
  /** Where agents' settings may name files: a tenant must not make the server read what it likes. */
  readonly directory: string | undefined;
}

const keptForMs = 60_000;

/** Reads files of authorities, and again after a minute, so that a new one counts without a restart. */
export function createAuthorities({ instance, directory }: AuthorityFiles, now: () => number): Authorities {
  const kept = new Map<string, { readonly certificates: ReturnType<Authorities>; readonly atMs: number }>();
  return (name) => {
    const path = name === instance ? name : directory && join(directory, basename(name));
    if (!path) return [];
    const known = kept.get(path);
    if (known && now() - known.atMs < keptForMs) return known.certificates;
    let certificates: ReturnType<Authorities> = [];
    try {
      certificates = parseCertificates(readFileSync(path, "utf8"));
    } catch {
      // Not there, or not readable: then nobody is accepted.
    }
    if (kept.size > 1000) kept.clear();
    kept.set(path, { certificates, atMs: now() });
    return certificates;
  };
}
