import { expect, test } from "vitest";
import { linesOf, needsKeyAgain, toApiKey, toUpdate } from "./provider-key.ts";

test("an unchanged key is left out, none is null, and a secret is referred to", () => {
  const typed = { key: "sk-1", secret: "openai_key" };
  expect(toApiKey({ choice: "keep", ...typed })).toBeUndefined();
  expect(toApiKey({ choice: "none", ...typed })).toBeNull();
  expect(toApiKey({ choice: "own", ...typed })).toBe("sk-1");
  expect(toApiKey({ choice: "secret", ...typed })).toBe("{{secret.openai_key}}");
});

test("another address needs a stored key again, but not a secret, which has its own hosts", () => {
  const stored = { base_url: "https://a.example", api_key_set: true, api_key_secret: null };
  expect(needsKeyAgain(stored, "https://b.example")).toBe(true);
  expect(needsKeyAgain(stored, "https://a.example")).toBe(false);
  expect(needsKeyAgain({ ...stored, api_key_secret: "openai_key" }, "https://b.example")).toBe(false);
});

test("models stand on lines of their own", () => {
  expect(linesOf("gpt-5\n\n gpt-5-mini \n")).toEqual(["gpt-5", "gpt-5-mini"]);
});

test("a new key is saved without the models and the address, unless they were changed", () => {
  const before = { base_url: "https://a.example", models: ["gpt-5", "gpt-5-mini"] };
  const unchanged = { baseUrl: "https://a.example", models: "gpt-5\ngpt-5-mini\n" };
  const key = { choice: "own", key: "sk-1", secret: "" } as const;
  expect(toUpdate(before, { ...unchanged, key })).toEqual({ api_key: "sk-1" });
  expect(toUpdate(before, { baseUrl: null, models: "gpt-5", key: { ...key, choice: "keep" } })).toEqual({
    base_url: null,
    models: ["gpt-5"],
  });
});
