import type { Pages, Told } from "./told.ts";

export async function tellInstallation(_told: Told): Promise<Pages> {
  return {};
}
