type Json = Record<string, unknown>;

interface Parameter extends Json {
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
}

interface DocumentedOperation extends Json {
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly content?: Json }>>;
}

export interface OpenApiDocument extends Json {
  readonly info: Json & { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

const howToTry = `
To try requests on this page, enter an API key under *Authentication*. This tab alone keeps it, until you close it.

The examples are the life of an agent called \`support-bot\`. Begin with *Create agent*: then the requests for that agent work as they are
offered. Ids such as \`req_01kg0000000000000000000001\` are made up: replace them with those of your own answers.

The document behind this page is [/openapi.json](/openapi.json).
`.trim();

/** The page would send the first allowed value of every parameter that may be left out. */
const onlyIfGiven = (parameter: Parameter): Parameter =>
  parameter.in === "query" && !parameter.required && parameter.example === undefined
    ? { ...parameter, examples: { default: { "x-disabled": true } } }
    : parameter;

/** The page would ask for JSON or events, whichever comes, and get events without end. */
const accept = {
  name: "Accept",
  in: "header",
  description: "`text/event-stream` for a stream of events.",
  schema: { type: "string", enum: ["application/json", "text/event-stream"] },
  example: "application/json",
};

const withoutOwnAccept = { "x-scalar-disable-parameters": { "default-headers": { default: { accept: true } } } };

function offered(operation: DocumentedOperation): DocumentedOperation {
  const { parameters = [], responses } = operation;
  const canStream = Object.values(responses).some(({ content }) => content?.["text/event-stream"]);
  return {
    ...operation,
    parameters: [...parameters.map(onlyIfGiven), ...(canStream ? [accept] : [])],
    ...(canStream && withoutOwnAccept),
  };
}

const mapValues = <T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

/** The document as the page at `/docs` needs it: each request is offered as its example has it, with nothing else. */
export const pageDocument = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  info: { ...document.info, description: `${document.info.description}\n\n${howToTry}` },
  paths: mapValues(document.paths, (methods) => mapValues(methods, offered)),
});

/**
 * The page can only keep a key in what it takes for `localStorage`, which is for good and for all tabs. Here that is `sessionStorage`:
 * for this tab, until it is closed.
 */
export const tabStorageScript =
  'Object.defineProperty(window, "localStorage", { value: window.sessionStorage, configurable: true });\n';
