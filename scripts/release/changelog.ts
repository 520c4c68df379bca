/** The one CHANGELOG.md of all packages, made from change files. */

/** The sections of Keep a Changelog, in the order of the page. */
const sections = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"] as const;

const width = 100;

/** Why a text cannot become an entry, or undefined. */
export function whyNoEntry(summary: string): string | undefined {
  const [, section, text] = summary.match(/^(\w+): +(\S[\s\S]*)$/) ?? [];
  if (!section || !text || !(sections as readonly string[]).includes(section))
    return `"${summary.slice(0, 60)}" must begin with one of ${sections.map((name) => `${name}:`).join(" ")}`;
  return undefined;
}

function wrapEntry(text: string): string {
  const lines = ["-"];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1) ?? "";
    if (`${last} ${word}`.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines.join("\n");
}

const capitalise = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The section of a version, with one entry for each text. */
export function versionSection(version: string, date: string, summaries: readonly string[]): string {
  const parts = sections.flatMap((section) => {
    const entries = summaries.filter((summary) => summary.startsWith(`${section}:`));
    if (entries.length === 0) return [];
    const texts = entries.map((summary) => wrapEntry(capitalise(summary.slice(section.length + 1).trim())));
    return [`### ${section}\n\n${texts.join("\n")}\n`];
  });
  return `## ${version} - ${date}\n\n${parts.join("\n")}`;
}

/** The heading of the newest section: its version, and its date or "unreleased". */
export function newestVersion(changelog: string): { readonly version: string; readonly date: string } {
  const [, version, date] = changelog.match(/^## (\d+\.\d+\.\d+) - (\S+)$/m) ?? [];
  if (!version || !date) throw new Error("CHANGELOG.md has no heading such as `## 0.2.0 - 2026-11-17`.");
  return { version, date };
}

/** Puts a section above the newest one. */
export function insertSection(changelog: string, section: string): string {
  const at = changelog.search(/^## \d/m);
  return `${changelog.slice(0, at)}${section}\n${changelog.slice(at)}`;
}
