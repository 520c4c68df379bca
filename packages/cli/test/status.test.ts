import { expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch({}, { withWorker: true });
removeDesks();

test("perch status shows the parts and the releases to a key that may operate, and names the missing permission to others", async () => {
  const { perch, organisation } = await newDesk(server());
  const key = await organisation.createKey({ permissions: ["operate"] });
  const env = { PERCH_API_KEY: key };
  const { stdout } = await perch(["status"], { env });
  expect(stdout).toMatch(/^Perch \d+\.\d+\.\d+/);
  for (const part of ["database", "engine", "engine admin", "workers"])
    expect(stdout).toMatch(new RegExp(`^${part} +ok +\\d+ ms`, "m"));
  expect(stdout).toMatch(/takes new runs +\d+/);
  const json = await perch(["status", "--json"], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({ releases: [{ state: "takes_new_runs" }] });
  const refused = await perch(["status"]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("operate");
});
