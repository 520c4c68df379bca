import { agentDefaults } from "@perch/contract";
import { describe, expect, test } from "vitest";
import { applyPatch, newDefinition, type StoredDefinition } from "./agent-rules.ts";

/** A rule that mutates its input throws. */
function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

/** An error with these details. */
const detailed = (error: string) =>
  expect.objectContaining({ details: [{ field: "definition", error: expect.stringContaining(error) }] });

const hsts = { enabled: true, maxAge: 60 };
const stored: StoredDefinition = deepFreeze({
  definition: {
    model: "perch/echo",
    temperature: 1,
    instructions: "Be brief.",
    tools: [{ type: "mcp", name: "search", url: "https://tools.example/mcp" }],
    memory: { recall: true, recall_limit: 3, remember: true, embedder: { model: "acme/embed", dimensions: 768 } },
    limits: { max_steps: 2, max_tokens: 3, max_history_messages: 10, max_concurrent_runs: 5, timeout_seconds: 4 },
    logs: "full",
    fallback_models: ["a/b"],
    runtime: { type: "http", url: "https://agents.example" },
  },
  security: { hsts, enforceHttps: true },
});
deepFreeze(agentDefaults);

describe("applyPatch", () => {
  test("fields that are omitted or undefined keep their value", () => {
    expect(applyPatch(stored, {})).toEqual(stored);
    const unset = {
      model: undefined,
      temperature: undefined,
      tools: undefined,
      limits: undefined,
      security: undefined,
    };
    expect(applyPatch(stored, unset as never)).toEqual(stored);
    expect(applyPatch(stored, { limits: { max_steps: undefined } as never })).toEqual(stored);
  });

  test.each([
    "temperature",
    "instructions",
    "tools",
    "memory",
    "limits",
    "logs",
    "fallback_models",
    "runtime",
  ] as const)("null restores the default of %s and touches nothing else", (field) => {
    const { definition, security } = applyPatch(stored, { [field]: null });
    expect(definition).toEqual({ ...stored.definition, [field]: agentDefaults[field] });
    expect(security).toEqual(stored.security);
  });

  test("zero, the empty text and the empty list are values, not omissions", () => {
    const { definition } = applyPatch(stored, { temperature: 0, instructions: "", tools: [], fallback_models: [] });
    expect(definition).toMatchObject({ temperature: 0, instructions: "", tools: [], fallback_models: [] });
  });

  test("memory and limits merge field by field", () => {
    const { definition } = applyPatch(stored, { memory: { recall: false }, limits: { max_tokens: 9 } });
    expect(definition.memory).toEqual({ ...stored.definition.memory, recall: false });
    expect(definition.limits).toEqual({ ...stored.definition.limits, max_steps: 2, max_tokens: 9, timeout_seconds: 4 });
  });

  test("tools, fallback models and the runtime are replaced whole", () => {
    const runtime = { type: "http" as const, url: "https://other.example" };
    const { definition } = applyPatch(stored, { fallback_models: ["c/d"], tools: [], runtime });
    expect(definition).toMatchObject({ fallback_models: ["c/d"], tools: [], runtime });
  });

  test("security merges block by block: a block is replaced as a whole, null removes it", () => {
    const change = (security: object | null) => applyPatch(stored, { security }).security;
    expect(change({ hsts: { enabled: false, maxAge: 0 } })).toEqual({
      enforceHttps: true,
      hsts: { enabled: false, maxAge: 0 },
    });
    expect(change({ hsts: null })).toEqual({ enforceHttps: true });
    expect(change({ enforceHttps: false })).toEqual({ hsts, enforceHttps: false });
    expect(change(null)).toEqual({});
  });

  test("security is never part of the definition, which versions copy", () => {
    expect(applyPatch(stored, { security: { hsts } }).definition).not.toHaveProperty("security");
    expect(newDefinition({ model: "perch/echo", security: { hsts } }).definition).not.toHaveProperty("security");
  });
});

describe("newDefinition", () => {
  test("is the defaults with the given fields", () => {
    const { security, ...defaults } = agentDefaults;
    expect(newDefinition({ model: "perch/echo", limits: { max_steps: 1 } })).toEqual({
      definition: { ...defaults, model: "perch/echo", limits: { ...defaults.limits, max_steps: 1 } },
      security,
    });
  });

  test("only a remote agent can do without a model", () => {
    expect(() => newDefinition({})).toThrow("Missing required parameter: model");
    expect(() => newDefinition({ runtime: null })).toThrow("Missing required parameter: model");
    expect(() => newDefinition({ runtime: { type: "model" } })).toThrow("Missing required parameter: model");
    const runtime = { type: "http" as const, url: "https://agents.example" };
    expect(newDefinition({ runtime }).definition).toMatchObject({ model: "perch/remote", runtime });
    expect(newDefinition({ runtime, model: "a/b" }).definition).toMatchObject({ model: "a/b", runtime });
  });

  test("is at most 256 KiB large and has at most 20,000 values", () => {
    const withParameters = (parameters: object) => {
      const tool = {
        type: "http" as const,
        name: "t",
        description: "",
        method: "GET" as const,
        url: "https://t.example",
      };
      return () =>
        newDefinition({ model: "perch/echo", tools: [{ ...tool, parameters: { type: "object", ...parameters } }] });
    };
    expect(withParameters({ description: "x".repeat(250_000) })).not.toThrow();
    expect(withParameters({ description: "x".repeat(262_000) })).toThrow(
      detailed("at most 262144 bytes of JSON; with this change it has 262"),
    );
    expect(withParameters({ examples: Array.from({ length: 19_000 }, () => []) })).not.toThrow();
    expect(withParameters({ examples: Array.from({ length: 20_000 }, () => []) })).toThrow(
      detailed("at most 20000 values; with this change it has 20"),
    );
  });
});
