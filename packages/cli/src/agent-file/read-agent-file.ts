import { existsSync, readFileSync } from "node:fs";
import { LineCounter, parseAllDocuments } from "yaml";
import schema from "../../agent.schema.json" with { type: "json" };
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";
import type { AgentSource } from "./agent-sources.ts";
import { type DeclaredSecret, readDeclaredSecrets } from "./declared-secrets.ts";
import { type Fields, isObject } from "./fields.ts";
import { checkTemplates } from "./secret-references.ts";

/** One agent of a file, with the location of its fields. */
export interface AgentDocument {
  readonly source: AgentSource;
  readonly name: string;
  /** The definition that is sent: all of the document but `secrets`. */
  readonly fields: Fields;
  readonly secrets: readonly DeclaredSecret[];
  /**
   * `agent.yaml:7`, for a path such as `limits.max_steps`. If the field itself is not in the file, its nearest parent.
   */
  readonly locationOf: (path: string) => string;
}

const properties = schema.properties as Readonly<Record<string, { readonly default?: unknown }>>;

type ParsedDocument = ReturnType<typeof parseAllDocuments>[number];

/** Aliases that stand for too much, or for nothing, are found only here. */
function toValue(document: ParsedDocument, location: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new Problem(`${location}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readDocument(document: ParsedDocument, source: AgentSource, lines: LineCounter): AgentDocument {
  const formatLocation = (offset: number) => `${source.name}:${lines.linePos(offset).line}`;
  if (document.errors.length > 0)
    throw new Problem(document.errors.map(({ pos, message }) => `${formatLocation(pos[0])}: ${message}`).join("\n"));
  const parsed = toValue(document, formatLocation(document.range?.[0] ?? 0));
  if (!isObject(parsed) || typeof parsed.name !== "string")
    throw new Problem(`${formatLocation(document.range?.[0] ?? 0)}: an agent needs a name.`);
  const locationOf = (path: string): string => {
    const steps = path.split(".").filter(Boolean);
    for (let length = steps.length; length > 0; length--) {
      const node = document.getIn(steps.slice(0, length), true) as { range?: [number, number, number] } | undefined;
      if (node?.range) return formatLocation(node.range[0]);
    }
    return source.name;
  };
  const { secrets, ...fields } = parsed;
  checkTemplates(fields, locationOf);
  return { source, name: parsed.name, fields, secrets: readDeclaredSecrets(secrets, locationOf), locationOf };
}

/** The agents of several files, and the problems of the rest. */
export interface AgentDocuments {
  readonly documents: readonly AgentDocument[];
  readonly problems: readonly Problem[];
}

/** The file's documents, separated by `---`: one agent each. */
function readSource(source: AgentSource): AgentDocuments {
  const { file, name } = source;
  if (!existsSync(file))
    return {
      documents: [],
      problems: [
        new Problem(`There is no ${name}.`, `Make one with \`${perchCommand("init")}\`, or name another with -f.`),
      ],
    };
  const lines = new LineCounter();
  // Warnings are not logged, because they quote the file.
  const options = { lineCounter: lines, prettyErrors: false, logLevel: "error" } as const;
  const parsed = parseAllDocuments(readFileSync(file, "utf8"), options);
  const found = Array.isArray(parsed) ? parsed : [];
  if (found.length === 0)
    return {
      documents: [],
      problems: [new Problem(`${name} is empty.`, `Make one with \`${perchCommand("init")}\`.`)],
    };
  const documents: AgentDocument[] = [];
  const problems: Problem[] = [];
  for (const document of found) {
    try {
      documents.push(readDocument(document, source, lines));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.push(error);
    }
  }
  return { documents, problems };
}

/** Reads all files, whatever is wrong with some. Agents of the same name are refused, since the last one would win silently. */
export function readAgentFiles(sources: readonly AgentSource[]): AgentDocuments {
  const read = sources.map(readSource);
  const byName = Map.groupBy(
    read.flatMap(({ documents }) => documents),
    ({ name }) => name,
  );
  const twice = [...byName].filter(([, documents]) => documents.length > 1);
  return {
    documents: [...byName.values()].flatMap((documents) => (documents.length === 1 ? documents : [])),
    problems: [
      ...read.flatMap(({ problems }) => problems),
      ...twice.map(([name, documents]) => {
        const places = documents.map(({ locationOf }) => locationOf("name"));
        return new Problem(
          `${documents.length} agents are called ${name}: ${places.join(" and ")}.`,
          "Rename all but one.",
        );
      }),
    ],
  };
}

/** Everything that is wrong, as one error. The same hint is given once. */
export function joinProblems(problems: readonly Problem[]): Problem {
  const hints = new Set(problems.flatMap(({ hint }) => (hint ? [hint] : [])));
  return new Problem(problems.map(({ message }) => message).join("\n"), [...hints].join("\n") || undefined);
}

/** All agents of the files, or an error with all that is wrong with them. */
export function requireAgents(sources: readonly AgentSource[]): readonly AgentDocument[] {
  const { documents, problems } = readAgentFiles(sources);
  if (problems.length > 0) throw joinProblems(problems);
  return documents;
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
  // Unknown fields are sent too, because the server refuses them by name.
  for (const field of Object.keys(fields)) if (!(field in properties)) wanted[field] = fields[field];
  return wanted;
}
