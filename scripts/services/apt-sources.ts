import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface AptSource {
  readonly uri: string;
  readonly suites: readonly string[];
}

/** The `.sources` form: stanzas of `Field: values`, continued by indented lines. */
export function parseDeb822(text: string): AptSource[] {
  const withoutComments = text.replace(/^#.*\n?/gm, "");
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const fields = new Map<string, string[]>();
    for (const [, name = "", values = ""] of stanza.matchAll(/^([\w-]+):((?:.*)(?:\n[ \t]+.*)*)/gm)) {
      fields.set(name.toLowerCase(), values.trim().split(/\s+/));
    }
    const isOn = fields.get("enabled")?.[0]?.toLowerCase() !== "no" && fields.get("types")?.includes("deb");
    const uri = fields.get("uris")?.[0];
    return isOn && uri ? [{ uri, suites: fields.get("suites") ?? [] }] : [];
  });
}

/** The older form: `deb [options] uri suite components`. */
export function parseOneLine(text: string): AptSource[] {
  return [...text.matchAll(/^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)/gm)].map(([, uri = "", suite = ""]) => ({
    uri,
    suites: [suite],
  }));
}

export function readAptSources(aptDir = "/etc/apt"): AptSource[] {
  const partsDir = join(aptDir, "sources.list.d");
  const parts = existsSync(partsDir) ? readdirSync(partsDir).map((name) => join(partsDir, name)) : [];
  return [join(aptDir, "sources.list"), ...parts].filter(existsSync).flatMap((file) => {
    if (file.endsWith(".sources")) return parseDeb822(readFileSync(file, "utf8"));
    return file.endsWith(".list") ? parseOneLine(readFileSync(file, "utf8")) : [];
  });
}

/** Cloud images point to a file that lists mirrors; the first one will do. */
export function resolveMirror(uri: string): string {
  const list = /^mirror\+file:(?:\/\/)?(\/.*)$/.exec(uri)?.[1];
  if (list === undefined) return uri;
  return /^\s*([^#\s]\S*)/m.exec(readFileSync(list, "utf8"))?.[1] ?? uri;
}
