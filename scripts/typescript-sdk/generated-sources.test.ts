import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type {
  Operations as Contract,
  OperationKey as ContractKey,
  RequestOf,
  ResponseOf,
} from "../../packages/contract/src/index.ts";
import { openApiDocument } from "../../packages/contract/src/index.ts";
import manifest from "../../packages/sdk/package.json" with { type: "json" };
import type { Operations } from "../../packages/sdk/src/index.ts";
import { generateSources } from "./generate-sources.ts";
import type { OpenApiDocument } from "./openapi-types.ts";

const sources = join(import.meta.dirname, "../../packages/sdk/src");

test("the generated sources are what the contract says", () => {
  const document = openApiDocument(manifest.version) as unknown as OpenApiDocument;
  const made = Object.entries(generateSources(document));
  expect(made.length).toBe(3);
  for (const [name, text] of made)
    expect(readFileSync(join(sources, name), "utf8"), `${name} is stale: run pnpm generate`).toBe(text);
});

/** The client lets a query or body be left out in which nothing is required. */
type Whole<Request> = { [Part in keyof Request]-?: NonNullable<Request[Part]> };
/** What the client's types let through, the contract's take; what the server answers, the client's types take. */
type Verdict<K extends ContractKey & keyof Operations> =
  Whole<Operations[K]["request"]> extends RequestOf<Contract[K]>
    ? ResponseOf<Contract[K]> extends Operations[K]["response"]
      ? never
      : [K, "answer"]
    : [K, "request"];
type Disagreements = { [K in ContractKey & keyof Operations]: Verdict<K> }[ContractKey & keyof Operations];
type Unshared = Exclude<ContractKey, keyof Operations> | Exclude<keyof Operations, ContractKey>;

test("its types agree with the contract's, which the server is held to", () => {
  const disagreements: Disagreements[] = [];
  const unshared: Unshared[] = [];
  // The compiler is the judge: it refuses these where there is one.
  const isNothing = (_: [Disagreements | Unshared] extends [never] ? true : false): void => undefined;
  isNothing(true);
  expect([...disagreements, ...unshared]).toEqual([]);
});
