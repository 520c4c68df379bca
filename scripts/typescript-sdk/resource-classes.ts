import { methodNames, namespaces, writtenByHand } from "./method-names.ts";
import {
  answersOf,
  bodyOf,
  type DocumentedOperation,
  type OpenApiDocument,
  parametersIn,
  type Route,
  routesOf,
  type Schema,
} from "./openapi-types.ts";
import { isOptional, objectOf } from "./operation-types.ts";
import { comment, indent, typeOf } from "./schema-types.ts";

const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
/** A path's `request_id` is a run's. */
const argumentName = (name: string): string => (name === "request_id" ? "runId" : camelCase(name));
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

interface Named extends Route {
  readonly namespace: string;
  readonly name: string;
}

function namesOf({ operationId }: DocumentedOperation): { namespace: string; name: string } {
  const path: string | undefined = (methodNames as Readonly<Record<string, string>>)[operationId];
  const [namespace, name] = path?.split(".") ?? [];
  if (!namespace || !name) throw new Error(`${operationId} is missing in scripts/typescript-sdk/method-names.ts`);
  return { namespace, name };
}

/** A list with pagination, an envelope around one value, or a response of another form. */
function resultOf({ key, method, operation }: Route): { readonly type: string; readonly call: string } {
  const { properties = {} } = answersOf(operation).first;
  const { data, pagination } = properties;
  if (method === "GET" && data?.type === "array" && pagination) {
    return { type: `PageList<${typeOf(data.items ?? {})}, ${typeOf(pagination)}>`, call: "list" };
  }
  if (data && properties.success)
    return { type: `Promise<Operations[${JSON.stringify(key)}]["response"]["data"]>`, call: "data" };
  return { type: `Promise<Operations[${JSON.stringify(key)}]["response"]>`, call: "request" };
}

/** Uses the name of the schema, such as `Agent`, instead of an indexed type if there is one. */
function namedResult(route: Route): { readonly type: string; readonly call: string } {
  const result = resultOf(route);
  const types = answersOf(route.operation).all.map(({ properties }) => properties?.data?.$ref);
  const [first] = types;
  const isNamed = result.call === "data" && first !== undefined && types.every((type) => type === first);
  return isNamed ? { ...result, type: `Promise<${typeOf({ $ref: first })}>` } : result;
}

const argument = (name: string, schema: Schema | undefined, type: string, required: boolean): string[] =>
  schema ? [`${name}${required ? "" : "?"}: ${type}`] : [];

function methodOf({ key, name, ...route }: Named): string {
  const { operation } = route;
  const params = parametersIn(operation, "path");
  const query = objectOf(parametersIn(operation, "query"));
  const hasQuery = Object.keys(query.properties ?? {}).length > 0;
  const body = bodyOf(operation);
  const signature = [
    ...params.map((param) => `${argumentName(param.name)}: string`),
    ...argument("body", body, body ? typeOf(body) : "", operation.requestBody?.required === true),
    ...(hasQuery ? [`query${isOptional(query) ? "?" : ""}: QueryOf<${JSON.stringify(key)}>`] : []),
    "options?: RequestOptions",
  ].join(", ");
  const parts = [
    ...(params.length > 0
      ? [`params: { ${params.map((param) => `${param.name}: ${argumentName(param.name)}`).join(", ")} }`]
      : []),
    ...(body ? ["body"] : []),
    ...(hasQuery ? ["query"] : []),
  ];
  const { type, call } = namedResult({ key, ...route });
  const text = `${operation.summary}. ${operation.description}\n\n\`${key}\``;
  const request = parts.length > 0 ? `{ ${parts.join(", ")} }` : "{}";
  return `${comment(text)}${name}(${signature}): ${type} {\n  return this.client.${call}(${JSON.stringify(key)}, ${request}, options);\n}\n`;
}

/** The resources that the client has without a line of its own. */
function namespacesClass(): string {
  const fields = Object.entries(namespaces).map(
    ([name, text]) => `${comment(text)}readonly ${name}: ${capital(name)}Methods;\n`,
  );
  const created = Object.keys(namespaces).map((name) => `  this.${name} = new ${capital(name)}Methods(client);\n`);
  const constructed = `/** @internal */\nconstructor(client: Client) {\n${created.join("")}}\n`;
  return `${comment("The namespaces that a client has.")}export class Namespaces {\n${indent([...fields, constructed].join(""))}}\n`;
}

/** One class for each namespace, with a method for each operation. */
export function resourceClasses(document: OpenApiDocument): string {
  const named = routesOf(document).map((route): Named => ({ ...route, ...namesOf(route.operation) }));
  const classes = Map.groupBy(named, ({ namespace }) => namespace);
  const written = [...classes].map(([namespace, all]) => {
    const methods = all.filter(({ operation }) => !writtenByHand.has(operation.operationId)).map(methodOf);
    const fields = `/** @internal */\nprotected readonly client: Client;\n/** @internal */\nconstructor(client: Client) {\n  this.client = client;\n}\n`;
    const text = comment(`The operations of \`${namespace}\`.`);
    return `${text}export class ${capital(namespace)}Methods {\n${indent([fields, ...methods].join("\n"))}}\n`;
  });
  return [...written, namespacesClass()].join("\n");
}
