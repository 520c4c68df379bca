import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { linesOf, type Surface } from "./sdk-surfaces/surface.ts";
import { typescriptSurface } from "./sdk-surfaces/typescript-surface.ts";

const python = JSON.parse(
  execFileSync(
    "python3",
    [
      join(import.meta.dirname, "sdk-surfaces/python_surface.py"),
      join(import.meta.dirname, "../sdk-python/src/perch_sdk"),
    ],
    { encoding: "utf8" },
  ),
) as Surface & { readonly async_client: Surface["client"] };
const typescript = typescriptSurface();

/** Names that only the TypeScript SDK has, with the reason. */
const onlyTypescript: Readonly<Record<string, string>> = {
  "Perch(csrf_token)": "for pages that Perch serves, which are not written in Python",
  "Perch(fetch)": "the platform's way to a proxy or a test; Python's is http_client",
  "Perch(log_level)": "Python has the standard logging",
  "Perch(logger)": "Python has the standard logging",
  "Perch.send": "status and headers of a success; in Python an http_client with event hooks sees them",
  "PageList.to_array": "an array; Python calls it a list",
  "create_memory_replay_store()": "a function makes it; in Python it is the class MemoryReplayStore",
  "verify_webhook()": "importable on its own, so that a bundle has nothing else; Python has the module webhooks",
};

/** Names that only the Python SDK has, with the reason. */
const onlyPython: Readonly<Record<string, string>> = {
  "Perch(http_client)": "httpx's way to a proxy, certificates or a test; TypeScript's is fetch",
  "Perch.close": "the client owns a pool of connections; in TypeScript the platform does",
  "Perch.with_options": "TypeScript takes the options of a call as its last argument",
  "PageList.to_list": "a list; TypeScript calls it an array",
  "RunStream.close": "ends the connection; in TypeScript leaving the loop does",
  "RunStream.text_so_far": "TypeScript has it in every token, as snapshot",
  "verify_request_async()": "Python has a function of each kind; in TypeScript all of them are asynchronous",
};

const withoutOthers = (lines: readonly string[], others: readonly string[]): string[] =>
  lines.filter((line) => !others.includes(line));

describe("the two SDKs have the same names, except those that are listed with a reason:", () => {
  test("none is missing in Python", () => {
    const missing = withoutOthers(linesOf(typescript), linesOf(python));
    expect(missing).toEqual(Object.keys(onlyTypescript).toSorted());
  });

  test("none is missing in TypeScript", () => {
    const missing = withoutOthers(linesOf(python), linesOf(typescript));
    expect(missing).toEqual(Object.keys(onlyPython).toSorted());
  });

  test("Python's asynchronous client has the same names as the synchronous one", () => {
    expect(python.async_client).toEqual(python.client);
  });
});

test("the comparison sees namespaces, methods, options, errors and their fields on both sides", () => {
  for (const { client, errors, classes, functions } of [typescript, python]) {
    expect(Object.keys(client.namespaces).length).toBeGreaterThan(15);
    expect(Object.values(client.namespaces).flat().length).toBeGreaterThan(60);
    expect(client.options).toEqual(expect.arrayContaining(["api_key", "base_url", "max_retries"]));
    expect(client.methods).toContain("me");
    expect(client.namespaces.webhooks).toContain("verify");
    expect(Object.keys(errors).length).toBeGreaterThan(15);
    expect(errors.NotFoundError?.fields).toEqual(expect.arrayContaining(["code", "run_id", "status"]));
    expect(classes.RunStream).toEqual(expect.arrayContaining(["result", "text"]));
    expect(functions).toContain("verify_request");
  }
});
