import type { Pages, Told } from "./told.ts";

export async function tellAccess(_told: Told): Promise<Pages> {
  return {};
}
