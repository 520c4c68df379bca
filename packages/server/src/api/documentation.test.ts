import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Operation, operationExamples, operationKeys, operations, routeOf } from "@perch/contract";
import { beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { usePerch } from "../../test/support/harness.ts";

const perch = usePerch();

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly example?: unknown;
  readonly examples?: { readonly default?: { readonly "x-disabled"?: boolean } };
  readonly schema: object;
}
interface DescribedOperation {
  readonly operationId: string;
  readonly parameters?: Parameter[];
  readonly requestBody?: unknown;
  readonly responses: Record<string, unknown>;
  readonly "x-permission": string | null;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Record<string, DescribedOperation>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

/** Every object in the document. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const child of Object.values(value)) yield* objectsIn(child);
}

const targetOf = (document: unknown, ref: string): unknown =>
  ref
    .split("/")
    .slice(1)
    .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);

describe("GET /openapi.json", () => {
  let document: Document;
  beforeAll(async () => {
    const response = await fetch(`${perch().url}/openapi.json`);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    document = (await response.json()) as Document;
  });

  test("is the document that is checked in", async () => {
    const file = join(import.meta.dirname, "../../../contract/openapi.json");
    expect(document).toEqual(JSON.parse(await readFile(file, "utf8")));
  });

  test("is OpenAPI 3.1, and every reference in it resolves", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: "Perch", version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    const refs = [...objectsIn(document)].flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : []));
    expect(refs.length).toBeGreaterThan(50);
    for (const ref of new Set(refs)) {
      expect(ref).toMatch(/^#\/components\/(schemas|responses|headers|parameters)\/[\w-]+$/);
      expect(targetOf(document, ref), ref).toBeDefined();
    }
  });

  test("has every operation of the table and no other, each with its own id", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual([...operationKeys].sort());
    const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((o) => o.operationId));
    expect(new Set(ids).size).toBe(operationKeys.length);
  });

  test.each(operationKeys)("describes %s: parameters, body, answers and permission", (key) => {
    const { method, path } = routeOf(key);
    const operation: Operation = operations[key];
    const described = document.paths[path]?.[method.toLowerCase()];
    const namesIn = (location: string) =>
      described?.parameters?.filter((parameter) => parameter.in === location).map(({ name }) => name) ?? [];
    expect(namesIn("path")).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    expect(namesIn("query")).toEqual(Object.keys(operation.query?.shape ?? {}));
    const isNeeded = (name: string) =>
      !(
        (operation.query?.shape as Record<string, z.ZodType> | undefined)?.[name]?.safeParse(undefined).success ?? true
      );
    for (const { in: location, name, required } of described?.parameters ?? [])
      expect([name, required]).toEqual([name, location === "path" || isNeeded(name)]);
    expect(described?.requestBody !== undefined).toBe(operation.body !== undefined);
    const statuses = Object.keys(described?.responses ?? {});
    expect(statuses).toEqual(expect.arrayContaining([String(operation.status), "400", "401", "403", "500", "503"]));
    expect(statuses.includes("413")).toBe(operation.body !== undefined);
    expect(described?.["x-permission"]).toBe(operation.permission);
  });
});

describe("GET /docs", () => {
  const page = async () => {
    const response = await fetch(`${perch().url}/docs`);
    return { response, html: await response.text() };
  };

  test("is a page that names no other host and reads our document", async () => {
    const { response, html } = await page();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(html).toContain("/openapi.json");
    expect(html).not.toMatch(/https?:\/\//);
    expect(html).not.toMatch(/(src|href|url)\s*[=:]\s*["']?\/\//);
  });

  test("its document is ours, and offers each request as its example has it", async () => {
    const documents = ["/openapi.json", "/docs/openapi.json"].map(async (path) => {
      const document = (await (await fetch(perch().url + path)).json()) as Document;
      return document.paths;
    });
    const [ours = {}, shown = {}] = await Promise.all(documents);
    const offered = operationKeys.map((key) => {
      const { method, path } = routeOf(key);
      const { parameters = [], ...operation } = shown[path]?.[method.toLowerCase()] ?? {};
      const { parameters: _, ...described } = ours[path]?.[method.toLowerCase()] ?? {};
      expect(operation).toMatchObject(described);
      const query = parameters.filter((one) => one.in === "query");
      const isSwitchedOff = ({ examples }: Parameter) => examples?.default?.["x-disabled"] === true;
      const wouldBeSent = ({ schema }: Parameter) =>
        ["$ref", "default", "enum", "example"].some((name) => name in schema);
      return {
        key,
        on: query
          .filter((one) => one.example !== undefined || (wouldBeSent(one) && !isSwitchedOff(one)))
          .map(({ name }) => name)
          .sort(),
      };
    });
    const examples = operationKeys.map((key) => ({
      key,
      on: Object.keys(operationExamples[key]?.request.query ?? {}).sort(),
    }));
    expect(offered).toEqual(examples);
    expect(Object.keys(ours).length).toBeGreaterThan(40);
  });

  test("its document describes an error only by its code, because the page shows the status before it", async () => {
    const document = (await (await fetch(`${perch().url}/docs/openapi.json`)).json()) as {
      components: { responses: Record<string, { description: string }> };
    };
    const errors = Object.entries(document.components.responses);
    expect(errors.length).toBeGreaterThan(5);
    for (const [code, { description }] of errors) expect(description).toBe(code);
  });

  test("has storage in memory before its script runs, because a sandboxed page has no other", async () => {
    const { html } = await page();
    const [first] = html.match(/<script[^>]*>/) ?? [];
    expect(first).toBe('<script src="/docs/memory-storage.js">');
    expect(await (await fetch(`${perch().url}/docs/memory-storage.js`)).text()).toContain("localStorage");
  });

  test("its script comes from this server", async () => {
    const { response, html } = await page();
    const sources = [...html.matchAll(/<script[^>]*\ssrc="([^"]+)"/g)].map(([, source]) => String(source));
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) {
      const script = await fetch(new URL(source, response.url));
      expect(script.status).toBe(200);
      expect(script.headers.get("content-type")).toContain("javascript");
    }
  });

  test("its policy allows only this server, and only its own inline script", async () => {
    const { response, html } = await page();
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toMatch(/sandbox allow-scripts/);
    expect(policy).not.toMatch(/allow-same-origin|https?:|\*|script-src[^;]*'unsafe-/);
    const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, script]) => script);
    expect(inline.length).toBeGreaterThan(0);
    for (const script of inline) {
      expect(policy).toContain(`'sha256-${createHash("sha256").update(String(script)).digest("base64")}'`);
    }
  });
});
