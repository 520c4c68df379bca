import { expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch({}, { withWorker: true, erasurePauseMs: 200 });
removeDesks();

test("perch users erase starts an erasure, and perch erasures shows its receipt without the user", async () => {
  const { perch } = await newDesk(server());
  const started = await perch(["users", "erase", "customer-1042", "--yes"]);
  const id = /^(erasure_\w{26}) is running\.$/m.exec(started.stdout)?.[1] ?? "";
  expect(started.stderr).toContain("Keep the id: an erasure does not say whose it was.");
  expect(started.stderr).toContain(`perch erasures get ${id}`);
  await expect
    .poll(async () => (await perch(["erasures", "get", id])).stdout, { interval: 300 })
    .toContain(`${id} completed`);
  const { stdout } = await perch(["erasures", "get", id]);
  expect(stdout).toMatch(/database +memories +deleted +0/);
  expect(stdout).toMatch(/database +records of runs +redacted +0/);
  expect(stdout).toMatch(/Expires: hashes of requests .+ within 3 days\s+after the request\./s);
  expect(stdout).toContain("Not covered: ");
  expect(stdout).not.toContain("customer-1042");
  expect((await perch(["erasures", "list"])).stdout).toContain(id);
});
