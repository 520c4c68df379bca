import { z } from "zod";
import { ErrorBody, errorStatus } from "./errors.ts";
import type { Operation } from "./operation.ts";
import {
  idempotencyKeyPattern,
  isRepeatable,
  type OperationKey,
  operationKeys,
  operations,
  refusalCodes,
  routeOf,
} from "./operations.ts";

type Json = Record<string, unknown>;

const introduction = `
Every request carries an API key: \`Authorization: Bearer <API_KEY>\`. Bodies are JSON, times are ISO 8601 in UTC.

An object or the outcome of an action comes as \`{"success": true, "data": …}\`, a list as \`{"data": […], "pagination": …}\`,
a refusal as \`{"success": false, "error": {"code", "message", "details"}}\`. Unknown fields and parameters are refused and named in \`details\`.

Every answer has the header \`X-Request-Id\`: your own, if you sent one, or ours. Quote it when something went wrong.

Any POST or PATCH may carry an \`Idempotency-Key\`: send the same one again after a timeout and nothing happens twice.
Past the rate limit of your tier the answer is 429 \`rate_limited\`, with \`retry_after\` in seconds.
`.trim();

const tagDescriptions = {
  Invocations: "Runs of an agent. An accepted run is never lost, and a retried one never runs twice.",
  Agents: "A named, declarative definition of who answers and how. `{agent_id}` is an agent's id or its name.",
  Deployments: "Which version of an agent is live where. A version never changes; a bad one is gone in one call.",
  "Logs and metrics": "What every agent did, and how well.",
  Memory: "What an agent remembers, searched by meaning and by words, and cleared for good.",
  Webhooks:
    "Who is told of events, and what became of each delivery. Every delivery is signed; at least once, in no order.",
  Models: "Who answers: models of providers, with the organisation's own keys or the server's.",
  "API keys": "What may be done, to which agents, and until when. A key is shown once, when it is made.",
  "Multi-factor": "A second factor for a key: time-based codes, for operations whose agents ask for one.",
  "Audit log": "Who changed what, from where, and what was refused. Nobody can change an entry.",
};

/** Named schemas move from each schema's own `$defs` to one place, where the same name must mean the same thing. */
class Components {
  readonly schemas: Record<string, unknown> = {};

  add(schema: z.ZodType, io: "input" | "output"): Json {
    const {
      $schema: _,
      $defs,
      ...json
    } = z.toJSONSchema(schema, {
      io,
      // A response may gain fields within v1; only what is declared strict stays closed.
      override: ({ zodSchema, jsonSchema }) => {
        const def = zodSchema._zod.def;
        if (def.type === "object" && !("catchall" in def && def.catchall)) delete jsonSchema.additionalProperties;
      },
    }) as Json & { $defs?: Record<string, unknown> };
    for (const [name, definition] of Object.entries($defs ?? {})) this.#define(name, this.#relink(definition));
    const id = typeof json.id === "string" ? json.id : undefined;
    if (id === undefined) return this.#relink(json) as Json;
    this.#define(id, this.#relink(json));
    return { $ref: `#/components/schemas/${id}` };
  }

  #define(name: string, definition: unknown): void {
    const { id: _, ...rest } = definition as Json;
    const known = this.schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(rest)) throw new Error(`Two schemas are called ${name}`);
    this.schemas[name] = rest;
  }

  #relink(value: unknown): unknown {
    return JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'));
  }
}

const permissionText = (permission: Operation["permission"]): string => {
  if (permission === "public") return "Needs no API key.";
  return permission === null ? "Any valid key will do." : `Needs the permission \`${permission}\`.`;
};

const content = (schema: unknown) => ({ "application/json": { schema } });

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Makes a retry safe for 24 hours: the first answer comes again, and nothing happens twice.",
  schema: { type: "string", pattern: idempotencyKeyPattern.source },
};

const lastEventId = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "With `Accept: text/event-stream`: goes on after this event.",
  schema: { type: "string" },
};

const header = (description: string, type: "string" | "integer") => ({ description, schema: { type } });

const limitHeaders = {
  "X-RateLimit-Limit": header("Requests the organisation may make at once.", "integer"),
  "X-RateLimit-Remaining": header("Requests left now.", "integer"),
  "X-RateLimit-Reset": header("When all will be left again, in Unix seconds.", "integer"),
  RateLimit: header("The same, in the form of the IETF draft.", "string"),
  "RateLimit-Policy": header("The limit behind it, in the form of the IETF draft.", "string"),
};

const headersOf = (key: OperationKey) => ({
  "X-Request-Id": header("Quote it when something went wrong.", "string"),
  ...(operations[key].permission !== "public" && limitHeaders),
  ...(isRepeatable(key) && {
    "Idempotent-Replayed": header("`true` when this is the first answer, sent again.", "string"),
  }),
});

function parametersOf(operation: Operation, components: Components): Json[] {
  return (["params", "query"] as const).flatMap((part) =>
    Object.entries(operation[part]?.shape ?? {}).map(([name, field]) => {
      const schema = field as z.ZodType;
      const optional = part === "query" && schema.safeParse(undefined).success;
      return {
        name,
        in: part === "params" ? "path" : "query",
        required: !optional,
        schema: components.add(schema, "input"),
      };
    }),
  );
}

function responsesOf(key: OperationKey, components: Components): Json {
  const operation: Operation = operations[key];
  const success = {
    description: "Success",
    headers: headersOf(key),
    content: {
      ...content(components.add(operation.response, "output")),
      ...(operation.events && { "text/event-stream": { schema: components.add(operation.events, "output") } }),
    },
  };
  return {
    [operation.status]: success,
    ...(operation.accepted && {
      202: {
        description: "Accepted: it goes on in the background",
        headers: headersOf(key),
        content: content(components.add(operation.accepted, "output")),
      },
    }),
    ...Object.fromEntries(
      refusalCodes(key).map((code) => [errorStatus[code], { $ref: `#/components/responses/${code}` }]),
    ),
  };
}

/** The OpenAPI 3.1 document of the operation table. */
export function openApiDocument(version: string): Json {
  const components = new Components();
  const errorSchema = components.add(ErrorBody, "output");
  const paths: Record<string, Json> = {};
  for (const key of operationKeys) {
    const operation: Operation = operations[key];
    const { method, path } = routeOf(key);
    const parameters = [
      ...parametersOf(operation, components),
      ...(isRepeatable(key) ? [idempotencyKey] : []),
      ...(operation.events ? [lastEventId] : []),
    ];
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      description: [operation.description, permissionText(operation.permission)].filter(Boolean).join("\n\n"),
      ...(parameters.length > 0 && { parameters }),
      ...(operation.body && {
        requestBody: {
          required: !operation.body.safeParse({}).success,
          content: content(components.add(operation.body, "input")),
        },
      }),
      responses: responsesOf(key, components),
      ...(operation.permission === "public" && { security: [] }),
      "x-permission": operation.permission,
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Perch",
      version,
      summary: "Named agents behind one REST API.",
      description: introduction,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }],
    tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key: `Authorization: Bearer perch_…`" },
      },
      schemas: components.schemas,
      responses: Object.fromEntries(
        Object.entries(errorStatus).map(([code, status]) => [
          code,
          { description: `${status} ${code}`, content: content(errorSchema) },
        ]),
      ),
    },
  };
}
