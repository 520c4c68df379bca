import type { ErasureReceipt } from "@perch/contract";
import { expect } from "vitest";
import { ok } from "../contract-client.ts";
import type { Organisation } from "../harness.ts";

export const erase = async ({ call }: Organisation, user_id: string) =>
  ok(await call("DELETE /v1/users/{user_id}/data", { params: { user_id } })).data;

export async function waitUntilErased({ call }: Organisation, erasure_id: string): Promise<ErasureReceipt> {
  const read = async () => ok(await call("GET /v1/erasures/{erasure_id}", { params: { erasure_id } })).data;
  await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe("completed");
  const { receipt, user_id } = await read();
  expect(user_id).toBeNull();
  if (!receipt) throw new Error("there is no receipt");
  return receipt;
}
