import type { Pages, Told } from "./told.ts";

export async function tellMetrics(_told: Told): Promise<Pages> {
  return {};
}
