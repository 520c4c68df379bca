import type { Pages, Told } from "./told.ts";

export async function tellLogs(_told: Told): Promise<Pages> {
  return {};
}
