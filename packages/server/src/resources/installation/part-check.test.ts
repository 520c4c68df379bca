import { expect, test } from "vitest";
import { createPartCheck } from "./part-check.ts";

test("a question that never ends is not asked again at once, and does not hide for good that the part is back", async () => {
  let nowMs = 0;
  let asked = 0;
  const check = createPartCheck({
    id: "database",
    address: "db",
    ask: () => {
      asked += 1;
      return asked === 1 ? new Promise<string>(() => undefined) : Promise.resolve("there");
    },
    nowMs: () => nowMs,
  });
  expect((await check()).part.status).toBe("silent");
  nowMs = 10_000;
  expect((await check()).part.status).toBe("silent");
  expect(asked).toBe(1);
  nowMs = 31_000;
  expect((await check()).part.status).toBe("ok");
});
