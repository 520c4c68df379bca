/** The part of OpenAPI 3.1 and JSON Schema that our document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
  readonly default?: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Route {
  /** `GET /v1/agents/{agent_id}` */
  readonly key: string;
  readonly method: string;
  readonly operation: DocumentedOperation;
}

export const routesOf = ({ paths }: OpenApiDocument): Route[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      key: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      operation,
    })),
  );

export const parametersIn = ({ parameters = [] }: DocumentedOperation, location: Parameter["in"]): Parameter[] =>
  parameters.filter((parameter) => parameter.in === location);

/** The schemas of the successful responses: 200, 201 or 202. */
export function answersOf({ responses }: DocumentedOperation) {
  const schemas = ["200", "201", "202"].flatMap((status) => {
    const schema = responses[status]?.content?.["application/json"]?.schema;
    return schema ? [schema] : [];
  });
  const [first] = schemas;
  if (!first) throw new Error("an operation without a response schema");
  return { first, all: schemas };
}

export const eventsOf = ({ responses }: DocumentedOperation): Schema | undefined =>
  responses["200"]?.content?.["text/event-stream"]?.schema;

export const bodyOf = ({ requestBody }: DocumentedOperation): Schema | undefined =>
  requestBody?.content["application/json"]?.schema;
