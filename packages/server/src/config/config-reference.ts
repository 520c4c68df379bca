import { concerns } from "./config.ts";
import type { Setting } from "./setting.ts";

const headings: Readonly<Record<keyof typeof concerns, string>> = {
  database: "PostgreSQL and Valkey",
  security: "Master key and security",
  api: "API",
  engine: "Restate and workers",
  models: "Models and embedder",
  outbound: "Outbound requests",
  webhooks: "Webhooks",
  telemetry: "Logs, metrics and traces",
};

const isEmpty = (value: unknown) =>
  value === undefined || (typeof value === "object" && Object.keys(value ?? {}).length === 0);

function row({ variable, schema }: Setting): string {
  const fallback = schema.safeParse(undefined);
  const shown = fallback.success ? (isEmpty(fallback.data) ? "none" : `\`${fallback.data}\``) : "";
  return `| \`${variable}\` | ${fallback.success ? "no" : "yes"} | ${shown} | ${schema.description} |`;
}

/** docs/operations/configuration.md, made from the settings themselves. */
export function configurationReference(): string {
  const sections = Object.entries(concerns).map(
    ([concern, table]) => `## ${headings[concern as keyof typeof concerns]}

| variable | required | default | meaning |
|---|---|---|---|
${Object.values<Setting>(table).map(row).join("\n")}
`,
  );
  return `# Configuration

Every setting is an environment variable, read once at start. A wrong or missing one stops the
process with a message that names it. \`pnpm generate\` makes this page from
\`packages/server/src/config/\`.

${sections.join("\n")}`;
}
