import type { Pages, Told } from "./told.ts";

export async function tellDecide(_told: Told): Promise<Pages> {
  return {};
}
