import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch();
removeDesks();

const env = { NO_COLOR: "1" };
const longest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));

test("perch audit and the plan of perch apply break lines between words at 80 columns", async () => {
  const { perch, cwd } = await newDesk(server());
  const instructions = "Answer in whole sentences and name the order that you speak of. ".repeat(4).trim();
  writeFileSync(join(cwd, "agent.yaml"), `name: bot\nmodel: perch/echo\ninstructions: ${instructions}\n`);
  const planned = await perch(["apply", "--dry-run"], { columns: 80, env });
  expect(planned.code).toBe(0);
  expect(longest(planned.stdout)).toBeLessThanOrEqual(80);
  expect(planned.stdout.replaceAll(/\n +/g, " ")).toContain(`instructions: "${instructions}"`);
  await perch(["apply"]);
  const whole = await perch(["audit"]);
  expect(longest(whole.stdout)).toBeGreaterThan(80);
  const broken = await perch(["audit"], { columns: 80, env });
  expect(longest(broken.stdout)).toBeLessThanOrEqual(80);
  expect(broken.stdout.replaceAll("\n    ", " ")).toBe(whole.stdout);
});
