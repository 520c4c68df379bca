import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";

/** Which Markdown files are pages, in which part of the navigation, and in which order they are read. */

export interface Part {
  readonly title: string;
  /** Paths in the repository. */
  readonly sources: readonly string[];
}

/** Folders whose pages have a reading order. The build fails if a page is missing here, or a name has no page. */
const readingOrder: Readonly<Record<string, readonly string[]>> = {
  "docs/guides": [
    "quick-start",
    "http-api",
    "invoking-agents",
    "streaming",
    "typescript-sdk",
    "python-sdk",
    "cli",
    "models",
    "tools",
    "approvals",
    "secrets",
    "connections",
    "memory",
    "remote-agents",
    "verify-calls",
    "ship-a-change-safely",
    "see-what-a-run-did",
    "logs-and-metrics",
    "webhooks",
    "limits-and-retries",
    "erase-a-user",
  ],
  "docs/operations": [
    "install",
    "balancers",
    "upgrade",
    "running",
    "sign-in",
    "backup",
    "drills",
    "image",
    "configuration",
    "capacity",
    "failures",
    "alerts",
  ],
  "docs/security": ["settings", "console-sessions", "approvals", "connections", "secret-scanning", "threat-model"],
  docs: [
    "console",
    "specification",
    "how-runs-survive",
    "adding-an-endpoint",
    "adding-a-resource",
    "testing",
    "database-rights",
    "dependencies",
  ],
};
/** For people who use Perch, unlike the other pages beside it. */
const console = "docs/console.md";
/** Not pages of their own, because other pages show them. */
const pictures = "docs/images";
/** Its files begin with a number, so the order is that of their names. */
const decisions = "docs/decisions";

export const homeSource = "README.md";

export function listParts(repository: string): readonly Part[] {
  const problems = [...checkReadingOrder(repository), ...checkFolders(repository)];
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const ordered = (folder: string) => (readingOrder[folder] ?? []).map((name) => `${folder}/${name}.md`);
  return [
    { title: "Guides", sources: [...ordered("docs/guides"), console] },
    {
      title: "Operations",
      sources: [
        "docs/operations/README.md",
        ...ordered("docs/operations"),
        "deploy/compose/README.md",
        "deploy/helm/perch/README.md",
        "SUPPORT.md",
      ],
    },
    { title: "Security", sources: ["SECURITY.md", ...ordered("docs/security")] },
    {
      title: "Project",
      sources: [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        ...ordered("docs").filter((page) => page !== console),
        "CHANGELOG.md",
      ],
    },
    { title: "Decisions", sources: withReadme(repository, decisions) },
  ];
}

function checkReadingOrder(repository: string): string[] {
  return Object.entries(readingOrder).flatMap(([folder, names]) => {
    const found = markdownIn(repository, folder);
    const unlisted = found.filter((name) => !names.includes(name));
    const missing = names.filter((name) => !found.includes(name));
    return [
      ...unlisted.map((name) => `${folder}/${name}.md has no place in the reading order of site/page-list.ts`),
      ...missing.map((name) => `site/page-list.ts lists ${folder}/${name}.md, which does not exist`),
    ];
  });
}

function checkFolders(repository: string): string[] {
  const known = [...Object.keys(readingOrder), decisions, pictures];
  return readdirSync(join(repository, "docs"), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `docs/${join(entry.parentPath, entry.name).slice(join(repository, "docs").length + 1)}`)
    .filter((folder) => !known.includes(folder))
    .map((folder) => `${folder} is a folder that site/page-list.ts does not know`);
}

/** The page about the folder itself comes first. */
function withReadme(repository: string, folder: string): string[] {
  const readme = `${folder}/README.md`;
  const pages = markdownIn(repository, folder).map((name) => `${folder}/${name}.md`);
  return existsSync(join(repository, readme)) ? [readme, ...pages] : pages;
}

function markdownIn(repository: string, folder: string): string[] {
  return readdirSync(join(repository, folder))
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .map((name) => basename(name, ".md"))
    .sort();
}

/** The address of a page within the site: without docs/, lower case, .html. */
export function urlOf(source: string): string {
  const path = source.replace(/^docs\//, "").replace(/README\.md$/, "index.md");
  return path.replace(/\.md$/, ".html").toLowerCase();
}
