import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { listBroken, loadFactor, walkTable } from "../builders-way/limits.ts";
import { walkBuildersWay } from "../builders-way/walk.ts";

describe("the way of a new builder", () => {
  test("from an empty folder to an answer with a tool that needs a key: eight commands, three minutes, nothing silent", {
    timeout: 600_000,
  }, async () => {
    verifies("service.builders-way", "agent.check", "deployment.draft-by-default");
    const before = loadFactor();
    const walk = await walkBuildersWay();
    const factor = Math.max(before, loadFactor());
    console.log(walkTable(walk, factor));
    expect(walk.answer).toContain("Your order is shipped.");
    // What is missing was said before anything ran.
    expect(walk.devOutput).toContain("There is no model local/llama3.2 here.");
    expect(walk.devOutput).toContain("perch providers add local --base-url http://127.0.0.1:11434/v1");
    expect(listBroken(walk, factor)).toEqual([]);
  });
});
