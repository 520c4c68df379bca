import type { Pages, Told } from "./told.ts";

export async function tellWebhooks(_told: Told): Promise<Pages> {
  return {};
}
