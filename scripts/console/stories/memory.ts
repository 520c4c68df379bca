import type { Pages, Told } from "./told.ts";

export async function tellMemory(_told: Told): Promise<Pages> {
  return {};
}
