import { settings } from "./config.ts";

/** docs/operations/configuration.md, made from the settings themselves. */
export function configurationReference(): string {
  const rows = Object.entries(settings).map(([name, schema]) => {
    const fallback = schema.safeParse(undefined);
    const value = fallback.success ? fallback.data : undefined;
    const shown = value === undefined || (Array.isArray(value) && value.length === 0) ? "none" : `\`${value}\``;
    return `| \`${name}\` | ${fallback.success ? "no" : "yes"} | ${fallback.success ? shown : ""} | ${schema.description} |`;
  });
  return `# Configuration

Every setting is an environment variable, read once at start. A wrong or missing one stops the process with a message that names it.
This page is made by \`pnpm generate\` from \`packages/server/src/config.ts\`.

| variable | required | default | meaning |
|---|---|---|---|
${rows.join("\n")}
`;
}
