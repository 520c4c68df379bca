import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { LineCounter, parseAllDocuments } from "yaml";
import schema from "../../agent.schema.json" with { type: "json" };
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";
import { type DeclaredSecret, readDeclaredSecrets } from "./declared-secrets.ts";
import { type Fields, isObject } from "./fields.ts";
import { checkTemplates } from "./secret-references.ts";

/** One agent of a file, with the location of its fields. */
export interface AgentDocument {
  readonly name: string;
  /** The definition that is sent: all of the document but `secrets`. */
  readonly fields: Fields;
  readonly secrets: readonly DeclaredSecret[];
  /** `agent.yaml:7`, for a path such as `limits.max_steps`: the nearest parent if the field itself is not in the file. */
  readonly locationOf: (path: string) => string;
}

const properties = schema.properties as Readonly<Record<string, { readonly default?: unknown }>>;

/** The file's documents, separated by `---`: one agent each. */
export function readAgentFile(file: string): AgentDocument[] {
  if (!existsSync(file))
    throw new Problem(`There is no ${file}.`, `Make one with \`${perchCommand("init")}\`, or name another with -f.`);
  const lines = new LineCounter();
  // Of warnings, the one that would be printed quotes the file.
  const options = { lineCounter: lines, prettyErrors: false, logLevel: "error" } as const;
  const documents = parseAllDocuments(readFileSync(file, "utf8"), options);
  const formatLocation = (offset: number) => `${basename(file)}:${lines.linePos(offset).line}`;
  const found = Array.isArray(documents) ? documents : [];
  if (found.length === 0) throw new Problem(`${file} is empty.`, `Make one with \`${perchCommand("init")}\`.`);
  return found.map((document) => {
    const [error] = document.errors;
    if (error) throw new Problem(`${formatLocation(error.pos[0])}: ${error.message}`);
    const parsed: unknown = document.toJS();
    if (!isObject(parsed) || typeof parsed.name !== "string")
      throw new Problem(`${formatLocation(document.range[0])}: an agent needs a name.`);
    const locationOf = (path: string): string => {
      const steps = path.split(".").filter(Boolean);
      for (let length = steps.length; length > 0; length--) {
        const node = document.getIn(steps.slice(0, length), true) as { range?: [number, number, number] } | undefined;
        if (node?.range) return formatLocation(node.range[0]);
      }
      return basename(file);
    };
    const { secrets, ...fields } = parsed;
    checkTemplates(fields, locationOf);
    return { name: parsed.name, fields, secrets: readDeclaredSecrets(secrets, locationOf), locationOf };
  });
}

/** The desired definition: the file's fields, with defaults for the others. `security` is unchanged unless the file has it. */
export function desiredDefinition({ name: _, ...fields }: Fields): Fields {
  const wanted: Record<string, unknown> = {};
  for (const [field, { default: fallback }] of Object.entries(properties)) {
    const value = fields[field] ?? fallback;
    if (value === undefined || (field === "security" && !(field in fields))) continue;
    // memory and limits merge field by field; the rest is replaced as a whole.
    const isMerged = ["memory", "limits"].includes(field);
    wanted[field] = isMerged && isObject(fallback) && isObject(value) ? { ...fallback, ...value } : value;
  }
  // Unknown fields are sent too: the server refuses them by name.
  for (const field of Object.keys(fields)) if (!(field in properties)) wanted[field] = fields[field];
  return wanted;
}
