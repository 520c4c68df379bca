import type { OpenApiDocument } from "./openapi-types.ts";
import { operationTypes } from "./operation-types.ts";
import { resourceClasses } from "./resource-classes.ts";
import { schemaTypes } from "./schema-types.ts";

const notice = "// Made from openapi.json by `pnpm generate`. Do not edit.\n";

/** The generated sources of the TypeScript client, by file name. */
export function generateSources(document: OpenApiDocument): Record<string, string> {
  const schemas = Object.keys(document.components.schemas);
  const importsFor = (code: string): string => {
    const types = code.replaceAll(/\/\*\*[\s\S]*?\*\//g, "");
    const used = schemas.filter((name) => new RegExp(`[^\\w."]${name}\\b`).test(types)).sort();
    return `import type {\n${used.map((name) => `  ${name},\n`).join("")}} from "./generated-schemas.ts";\n`;
  };
  const operations = operationTypes(document);
  const classes = resourceClasses(document);
  const own = [
    'import type { Client } from "./client.ts";',
    'import type { Operations } from "./generated-operations.ts";',
    'import type { QueryOf } from "./operation-parts.ts";',
    'import type { RequestOptions } from "./options.ts";',
    'import type { PageList } from "./page-list.ts";',
  ].join("\n");
  return {
    "generated-schemas.ts": `${notice}\n${schemaTypes(document)}`,
    "generated-operations.ts": `${notice}\n${importsFor(operations)}\n${operations}`,
    "generated-resources.ts": `${notice}\n${own}\n${importsFor(classes)}\n${classes}`,
  };
}
