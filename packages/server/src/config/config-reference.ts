import { concerns } from "./config.ts";
import { fileVariable } from "./secret-files.ts";
import type { Setting } from "./setting.ts";

const headings: Readonly<Record<keyof typeof concerns, string>> = {
  database: "PostgreSQL and Valkey",
  security: "Master key and security",
  api: "API",
  signIn: "People who sign in to the console",
  engine: "Restate and workers",
  models: "Models and embedder",
  outbound: "Outbound requests",
  webhooks: "Webhooks",
  telemetry: "Logs, metrics and traces",
};

const isEmpty = (value: unknown) =>
  value === undefined || (typeof value === "object" && Object.keys(value ?? {}).length === 0);

const nameOf = ({ variable, isSecret }: Setting): string =>
  isSecret ? `\`${variable}\` or \`${fileVariable(variable)}\`` : `\`${variable}\``;

function row(setting: Setting): string {
  const { schema } = setting;
  const fallback = schema.safeParse(undefined);
  const shown = fallback.success ? (isEmpty(fallback.data) ? "none" : `\`${fallback.data}\``) : "**required**";
  return `| ${nameOf(setting)} | ${shown} | ${schema.description} |`;
}

/** docs/operations/configuration.md, made from the settings themselves. */
export function configurationReference(): string {
  const sections = Object.entries(concerns).map(
    ([concern, table]) => `## ${headings[concern as keyof typeof concerns]}

| variable | default | meaning |
|---|---|---|
${Object.values<Setting>(table).map(row).join("\n")}
`,
  );
  return `# Configuration

Every setting is an environment variable, read once at start. A setting that is wrong or missing
stops the process, and so does an unknown variable that starts with \`PERCH_\`. All problems are
reported at once, one line each. \`pnpm generate\` makes this page from
\`packages/server/src/config/\`.

A secret can come from a file instead: \`PERCH_MASTER_KEY_FILE\` is the path of a file with the value
of \`PERCH_MASTER_KEY\`, and the same works for every setting below that has a second name with
\`_FILE\`. Line breaks at the end of the file are removed. Set only one of the two names.

${sections.join("\n")}`;
}
