import { headingId } from "../heading-ids.ts";
import { codeBlock } from "../highlight.ts";
import { escapeHtml, relativeUrl } from "../html.ts";
import { renderText } from "../markdown.ts";
import type { SitePage } from "../site-page.ts";
import { type FieldContext, fieldList, fieldsOf, typeOf } from "./fields.ts";
import { findObjectHomes, mentionedBy } from "./objects.ts";
import { type OpenApi, type Operation, operationsOf, type Response, resolveHeader, resolveSchema } from "./openapi.ts";

const overviewUrl = "reference/index.html";
const source = "packages/contract/openapi.json";

/** One page for each tag of the OpenAPI document, after an overview of the behaviour that all operations share. */
export function referencePages(document: OpenApi, openApiUrl: string): SitePage[] {
  const operations = operationsOf(document);
  const tags = document.tags.map((tag) => ({
    ...tag,
    url: `reference/${headingId(tag.name)}.html`,
    operations: operations.filter(({ tags }) => tags.includes(tag.name)),
  }));
  const homeless = operations.filter((operation) => !tags.some((tag) => tag.operations.includes(operation)));
  if (operations.length === 0 || homeless.length > 0) throw new Error(`${source}: operations without a tag`);
  const homes = findObjectHomes(document, [
    { url: overviewUrl, schemas: [{ $ref: "#/components/schemas/ErrorBody" }] },
    ...tags.map(({ url, operations }) => ({
      url,
      schemas: operations.flatMap((operation) => mentionedBy(document, operation)),
    })),
  ]);
  const contextOf = (url: string): FieldContext => ({ document, homes, url });
  const overviewHtml = overview(tags, openApiUrl, contextOf(overviewUrl));
  return [
    { source, url: overviewUrl, title: "API reference", label: "Overview", html: overviewHtml },
    // Several guides have the same names.
    ...tags.map((tag) => ({
      source,
      url: tag.url,
      title: `${tag.name} · API reference`,
      label: tag.name,
      html: tagPage(tag, contextOf(tag.url)),
    })),
  ];
}

interface TagPage {
  readonly name: string;
  readonly description: string;
  readonly url: string;
  readonly operations: readonly Operation[];
}

function overview(tags: readonly TagPage[], openApiUrl: string, context: FieldContext): string {
  const { document } = context;
  const lists = tags.map(
    (tag) => `<h3 id="${headingId(tag.name)}">${escapeHtml(tag.name)}</h3>\n${operationTable(tag, overviewUrl)}`,
  );
  return [
    `<h1 id="api-reference">API reference</h1>\n`,
    renderText(document.info.description),
    `<p>The same as a document: <a href="${relativeUrl(overviewUrl, openApiUrl)}">openapi.json</a>, OpenAPI 3.1. A running server has it at <code>/openapi.json</code>.</p>\n`,
    `<h2 id="operations">Operations</h2>\n`,
    ...lists,
    `<h2 id="errors">Errors</h2>\n`,
    errorTable(document),
    `<h2 id="response-headers">Response headers</h2>\n`,
    fieldList(responseHeaders(document), context),
    objectSections(context),
  ].join("");
}

function operationTable(tag: TagPage, fromUrl: string): string {
  const rows = tag.operations.map(
    ({ operationId, summary, method, path, "x-permission": permission }) =>
      `<tr><td><a href="${relativeUrl(fromUrl, `${tag.url}#${operationId}`)}">${escapeHtml(summary)}</a></td><td>${route(method, path)}</td><td>${permission}</td></tr>`,
  );
  return `<div class="table" tabindex="0"><table class="operations"><thead><tr><th>operation</th><th>route</th><th>permission</th></tr></thead><tbody>\n${rows.join("\n")}\n</tbody></table></div>\n`;
}

function route(method: string, path: string): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(path)}</code>`;
}

function statusOf(document: OpenApi, code: string): string {
  const uses = operationsOf(document).flatMap(({ responses }) => Object.entries(responses));
  return uses.find(([, { $ref }]) => $ref?.endsWith(`/${code}`))?.[0] ?? "";
}

function errorTable(document: OpenApi): string {
  const rows = Object.entries(document.components.responses)
    .map(([code, { description = "" }]) => ({ code, description, status: statusOf(document, code) }))
    .sort((a, b) => a.status.localeCompare(b.status))
    .map(({ code, description, status }) => `| ${status} | \`${code}\` | ${description.replace(/\|/g, "\\|")} |`);
  return renderText(["| status | code | meaning |", "|---|---|---|", ...rows].join("\n"));
}

function responseHeaders(document: OpenApi) {
  const responses: Response[] = [
    ...Object.values(document.components.responses),
    ...operationsOf(document).flatMap((operation) => Object.values(operation.responses)),
  ];
  const headers = new Map(responses.flatMap(({ headers }) => Object.entries(headers ?? {})));
  return [...headers].map(([name, header]) => {
    const { schema, description } = resolveHeader(document, header);
    return { name, schema, description, notes: [] };
  });
}

function tagPage(tag: TagPage, context: FieldContext): string {
  return [
    `<h1 id="${headingId(tag.name)}">${escapeHtml(tag.name)}</h1>\n`,
    renderText(tag.description),
    operationTable(tag, tag.url),
    ...tag.operations.map((operation) => operationSection(operation, context)),
    objectSections(context),
  ].join("");
}

function operationSection(operation: Operation, context: FieldContext): string {
  const { operationId, summary, method, path, description } = operation;
  return [
    `<h2 id="${operationId}">${escapeHtml(summary)}${anchor(operationId)}</h2>\n`,
    `<p class="route">${route(method, path)}</p>\n`,
    renderText(description),
    curlSample(operation),
    parameterSection(operation, context),
    bodySection(operation, context),
    ...Object.entries(operation.responses).map(([status, response]) => responseSection(status, response, context)),
    errorLine(operation, context.url),
  ].join("");
}

function curlSample({ "x-codeSamples": samples = [] }: Operation): string {
  const sample = samples.find(({ lang }) => lang === "shell");
  return sample ? codeBlock(sample.source, "sh") : "";
}

function anchor(id: string): string {
  return `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
}

function parameterSection({ parameters = [] }: Operation, context: FieldContext): string {
  if (parameters.length === 0) return "";
  const fields = parameters.map((parameter) => ({
    name: parameter.name,
    schema: parameter.schema,
    description: parameter.description,
    notes: [`in the ${parameter.in}`, ...(parameter.required ? [] : ["optional"])],
  }));
  return `<h3>Parameters</h3>\n${fieldList(fields, context)}`;
}

function bodySection({ requestBody }: Operation, context: FieldContext): string {
  const schema = requestBody?.content["application/json"]?.schema;
  if (!schema) return "";
  const { description } = resolveSchema(context.document, schema);
  return `<h3>Request body</h3>\n${description ? renderText(description) : ""}${fieldsOf(schema, context)}`;
}

function responseSection(status: string, { content = {}, description = "" }: Response, context: FieldContext): string {
  return Object.entries(content)
    .map(([type, { schema, example }]) => {
      const isStream = type === "text/event-stream";
      const note = isStream
        ? ", as a stream of events"
        : description === "Success"
          ? ""
          : `: ${escapeHtml(description)}`;
      const fields = schema.$ref ? `<p>${typeOf(schema, context)}</p>\n` : fieldsOf(schema, context);
      const shown = example === undefined ? "" : codeBlock(JSON.stringify(example, null, 2), "json");
      return `<h3>Response ${status}${note}</h3>\n${fields}${shown}`;
    })
    .join("");
}

function errorLine({ responses }: Operation, url: string): string {
  const codes = Object.entries(responses).flatMap(([status, { $ref }]) =>
    $ref ? [`${status} <code>${$ref.slice($ref.lastIndexOf("/") + 1)}</code>`] : [],
  );
  const errors = relativeUrl(url, `${overviewUrl}#errors`);
  return codes.length > 0 ? `<p class="errors"><a href="${errors}">Errors</a>: ${codes.join(", ")}</p>\n` : "";
}

function objectSections(context: FieldContext): string {
  const names = [...context.homes.pageOf].filter(([, url]) => url === context.url).map(([name]) => name);
  if (names.length === 0) return "";
  const sections = names.map((name) => {
    const schema = context.document.components.schemas[name] ?? {};
    const { description } = resolveSchema(context.document, schema);
    return `<h3 id="${name}">${name}${anchor(name)}</h3>\n${description ? renderText(description) : ""}${fieldsOf(schema, context)}`;
  });
  return `<h2 id="objects">Objects</h2>\n${sections.join("")}`;
}
