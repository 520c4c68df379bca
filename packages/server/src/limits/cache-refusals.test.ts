import { expect, test } from "vitest";
import { cacheRefusals } from "./cache-refusals.ts";
import { createLocalGate } from "./local-gate.ts";

test("every refusal is counted once, also one that is cached; a request that passes is not", async () => {
  const counted: string[] = [];
  const local = createLocalGate(() => 0);
  let passes = 0;
  const pass: typeof local.pass = (owner, buckets) => {
    passes += 1;
    return local.pass(owner, buckets);
  };
  const gate = cacheRefusals(
    { ...local, pass },
    () => 0,
    (limit) => void counted.push(limit),
  );
  const bucket = { key: "requests", rate: { capacity: 1, intervalMs: 1000 } };
  const allowed: boolean[] = [];
  for (const owner of ["org", "org", "org", "address 192.0.2.1", "address 192.0.2.1"])
    allowed.push((await gate.pass(owner, [bucket])).allowed);
  expect(allowed).toEqual([true, false, false, true, false]);
  expect(counted).toEqual(["organisation", "organisation", "address"]);
  expect(passes).toBe(4);
});
