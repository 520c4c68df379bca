import type { Pages, Told } from "./told.ts";

export async function tellShip(_told: Told): Promise<Pages> {
  return {};
}
