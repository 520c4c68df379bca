import { describe, expect, test } from "vitest";
import { checkDocument } from "./check-document.ts";
import { loadSchema } from "./definition-schema.ts";

const schema = await loadSchema();
const problemsOf = (document: object) =>
  checkDocument(schema, document).map(({ path, message }) => `${path.join(".")}: ${message}`);

describe("checkDocument", () => {
  test("can read every pattern of the schema, because an unreadable one would hide all problems", () => {
    const patterns = [...JSON.stringify(schema).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text = ""]) => JSON.parse(text) as string,
    );
    expect(patterns.length).toBeGreaterThan(5);
    for (const pattern of patterns) expect(() => new RegExp(pattern, "u"), pattern).not.toThrow();
  });

  test("finds nothing wrong with a whole definition", () => {
    const definition = {
      model: "perch/echo",
      temperature: null,
      instructions: "Be kind.",
      tools: [
        { type: "mcp", name: "shelf", url: "https://shelf.example/mcp", headers: { "x-key": "{{secret.shelf}}" } },
      ],
      memory: { recall: true, recall_limit: 5, remember: false, embedder: { model: "perch/minilm", dimensions: 384 } },
      limits: { max_steps: 20 },
      logs: "full",
      fallback_models: ["openai/gpt-4.1"],
      runtime: { type: "model" },
      security: { ipWhitelist: { enabled: true, addresses: ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"] } },
    };
    expect(problemsOf(definition)).toEqual([]);
  });

  test("names the field that is wrong, and what it may be", () => {
    expect(problemsOf({ limits: { max_steps: 0 } })).toEqual(["limits.max_steps: At least 1"]);
    expect(problemsOf({ temperature: "hot" })).toEqual(["temperature: Expected a number"]);
    expect(problemsOf({ logs: "some" })).toEqual(["logs: Expected one of off, shapes, full"]);
    expect(problemsOf({ colour: "red" })).toEqual(["colour: There is no field colour"]);
  });

  test("reads texts, lists and choices as the schema does", () => {
    expect(problemsOf({ model: "echo" })).toEqual([expect.stringMatching(/^model: ./)]);
    expect(problemsOf({ instructions: "a".repeat(65_537) })).toEqual(["instructions: At most 65536 characters"]);
    expect(problemsOf({ fallback_models: Array(6).fill("a/b") })).toEqual(["fallback_models: At most 5"]);
    expect(problemsOf({ runtime: { type: "modle" } })).toEqual(["runtime.type: Expected model"]);
    expect(problemsOf({ limits: { max_steps: 1.5, steps: 1 } })).toEqual([
      "limits.max_steps: Expected a whole number",
      "limits.steps: There is no field steps",
    ]);
  });

  test("judges a tool by its own type", () => {
    const tool = { type: "mcp", name: "shelf", url: "https://shelf.example", method: "GET" };
    expect(problemsOf({ tools: [tool] })).toEqual(["tools.0.method: There is no field method"]);
    expect(problemsOf({ tools: [{ type: "mcp", name: "shelf" }] })).toEqual(["tools.0: url is missing"]);
  });
});
