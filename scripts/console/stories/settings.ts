import type { Pages, Told } from "./told.ts";

export async function tellSettings(_told: Told): Promise<Pages> {
  return { sessions: "/settings/sessions" };
}
