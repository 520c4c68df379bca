import { z } from "zod";
import { ErrorBody, type ErrorCode, errorStatus } from "./errors.ts";
import { errorExamples, type OperationExample, operationExamples } from "./examples.ts";
import { answerHeaders, errorHeaders, requestHeaders, successHeaders } from "./openapi-headers.ts";
import type { Operation } from "./operation.ts";
import { type OperationKey, operationKeys, operations, refusalCodes, routeOf, tagDescriptions } from "./operations.ts";

type Json = Record<string, unknown>;

const introduction = `
Every request needs an API key: \`Authorization: Bearer <API_KEY>\`. Bodies are JSON. Timestamps are ISO 8601 in UTC.

An object or the result of an action is returned as \`{"success": true, "data": …}\`, a list as \`{"data": […], "pagination": …}\`,
an error as \`{"success": false, "error": {"code", "message", "details"}}\`. Unknown fields and parameters are rejected and named in \`details\`.

Every response has the header \`X-Correlation-Id\`: the one you sent, or a new one. It names the exchange, not a run: include it when you report a problem.

Every POST and PATCH that changes something accepts an \`Idempotency-Key\`. If you retry with the same key, the change is made only once.
Searches change nothing: they ignore the header.
Above the rate limit of your tier the response is 429 \`rate_limited\`, with \`retry_after\` in seconds.
`.trim();

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
      // A response may gain fields within v1; only objects declared as strict stay closed.
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

const permissionText = ({ permission, ownRuns }: Operation): string => {
  if (permission === "public") return "Needs no API key.";
  if (permission === null) return "Needs any valid API key.";
  const orInvoke = ownRuns ? ", or `invoke` for a run that the key itself started" : "";
  return `Needs the permission \`${permission}\`${orInvoke}.`;
};

const deprecationText = ({ deprecated }: Operation): string | undefined =>
  deprecated && `Deprecated since ${deprecated.since}, and gone from ${deprecated.sunset} on. ${deprecated.use}`;

const descriptionOf = (operation: Operation): string =>
  [deprecationText(operation), operation.description, permissionText(operation)].filter(Boolean).join("\n\n");

const content = (schema: unknown, example: unknown) => ({ "application/json": withExample({ schema }, example) });
const withExample = (described: Json, example: unknown): Json =>
  example === undefined ? described : { ...described, example };

function parametersOf(operation: Operation, components: Components, { request }: Partial<OperationExample>): Json[] {
  return (["params", "query"] as const).flatMap((part) =>
    Object.entries(operation[part]?.shape ?? {}).map(([name, field]) => {
      const schema = field as z.ZodType;
      const optional = part === "query" && schema.safeParse(undefined).success;
      const described = {
        name,
        in: part === "params" ? "path" : "query",
        required: !optional,
        schema: components.add(schema, "input"),
      };
      return withExample(described, request?.[part]?.[name]);
    }),
  );
}

function responsesOf(key: OperationKey, components: Components): Json {
  const operation: Operation = operations[key];
  const { response, accepted, event }: Partial<OperationExample> = operationExamples[key] ?? {};
  const success = {
    description: "Success",
    headers: successHeaders(key),
    content: {
      ...content(components.add(operation.response, "output"), response),
      ...(operation.events && {
        "text/event-stream": withExample({ schema: components.add(operation.events, "output") }, event),
      }),
    },
  };
  return {
    [operation.status]: success,
    ...(operation.accepted && {
      202: {
        description: "Accepted: continues in the background",
        headers: successHeaders(key),
        content: content(components.add(operation.accepted, "output"), accepted),
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
    const example: Partial<OperationExample> = operationExamples[key] ?? {};
    const parameters = [...parametersOf(operation, components, example), ...requestHeaders(key)];
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      ...(operation.deprecated && { deprecated: true }),
      description: descriptionOf(operation),
      parameters,
      ...(operation.body && {
        requestBody: {
          required: !operation.body.safeParse({}).success,
          content: content(components.add(operation.body, "input"), example.request?.body),
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
      headers: answerHeaders,
      responses: Object.fromEntries(
        Object.entries(errorStatus).map(([code, status]) => [
          code,
          {
            description: `${status} ${code}`,
            headers: errorHeaders(code as ErrorCode),
            content: content(errorSchema, errorExamples[code as ErrorCode]),
          },
        ]),
      ),
    },
  };
}
