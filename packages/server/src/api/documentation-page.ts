type Json = Record<string, unknown>;

interface Schema extends Json {
  readonly $ref?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
}

type Schemas = Readonly<Record<string, Schema>>;

interface Parameter extends Json {
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema: Schema;
}

interface DocumentedOperation extends Json {
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly content?: Json }>>;
}

export interface OpenApiDocument extends Json {
  readonly info: Json & { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: Json & {
    readonly schemas: Schemas;
    readonly responses: Readonly<Record<string, Json & { readonly description: string }>>;
  };
}

const howToTry = `
To try requests on this page, enter an API key under *Authentication*. The page forgets it when you reload or leave it.

The examples are the life of an agent called \`support-bot\`. Begin with *Create agent*: then the requests for that agent work as they are
offered. Ids such as \`req_01kg0000000000000000000001\` are made up: replace them with those of your own answers.

The document behind this page is [/openapi.json](/openapi.json).
`.trim();

/** The value that the page fills in itself if a parameter has no example: a default or the first allowed value. */
function valueOfPage({ schema }: Parameter, schemas: Schemas): unknown {
  const resolved = schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
  return resolved.default ?? resolved.example ?? resolved.enum?.[0];
}

/** The page would send every optional parameter that it has a value for, and show an example of a schema beside that of its parameter. */
function offeredParameter(parameter: Parameter, schemas: Schemas): Parameter {
  if (parameter.example !== undefined) {
    const { example: _, ...schema } = parameter.schema;
    return { ...parameter, schema };
  }
  const value = valueOfPage(parameter, schemas);
  if (parameter.in !== "query" || parameter.required || value === undefined) return parameter;
  return { ...parameter, examples: { default: { value, "x-disabled": true } } };
}

/** The page would ask for JSON or events, whichever comes, and get events without end. */
const accept = {
  name: "Accept",
  in: "header",
  description: "`text/event-stream` for a stream of events.",
  schema: { type: "string", enum: ["application/json", "text/event-stream"] },
  example: "application/json",
};

const withoutOwnAccept = { "x-scalar-disable-parameters": { "default-headers": { default: { accept: true } } } };

function offeredOperation(operation: DocumentedOperation, schemas: Schemas): DocumentedOperation {
  const { parameters = [], responses } = operation;
  const canStream = Object.values(responses).some(({ content }) => content?.["text/event-stream"]);
  return {
    ...operation,
    parameters: [...parameters.map((one) => offeredParameter(one, schemas)), ...(canStream ? [accept] : [])],
    ...(canStream && withoutOwnAccept),
  };
}

const mapValues = <T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

/** The page shows the status before the description: `409 conflict`, not `409 409 conflict`. */
const withoutStatus = <T extends { readonly description: string }>(response: T): T => ({
  ...response,
  description: response.description.replace(/^\d+ /, ""),
});

/** The document as the page at `/docs` needs it: each request is offered as its example has it, with nothing else. */
export const pageDocument = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  info: { ...document.info, description: `${document.info.description}\n\n${howToTry}` },
  components: { ...document.components, responses: mapValues(document.components.responses, withoutStatus) },
  paths: mapValues(document.paths, (methods) =>
    mapValues(methods, (operation) => offeredOperation(operation, document.components.schemas)),
  ),
});

/** A sandboxed page has no storage, and its script expects one: this one lasts until the page is left. */
export const memoryStorageScript = `
for (const name of ["localStorage", "sessionStorage"]) {
  const items = new Map();
  const value = {
    getItem: (key) => items.get(String(key)) ?? null,
    setItem: (key, text) => void items.set(String(key), String(text)),
    removeItem: (key) => void items.delete(String(key)),
    clear: () => items.clear(),
    key: (index) => [...items.keys()][index] ?? null,
    get length() { return items.size; },
  };
  Object.defineProperty(window, name, { value, configurable: true });
}
`.trimStart();
