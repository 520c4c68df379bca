import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tier } from "@perch/contract";
import { afterAll } from "vitest";
import type { Organisation, Perch } from "../../server/test/support/harness.ts";
import { createShell } from "./shell.ts";

export interface Desk {
  readonly cwd: string;
  readonly organisation: Organisation;
  readonly env: NodeJS.ProcessEnv;
  readonly perch: ReturnType<typeof createShell>;
}

const folders: string[] = [];

/** A new organisation and a user at its command line, in an empty folder. */
export async function newDesk(perch: Perch, tier?: Tier): Promise<Desk> {
  const organisation = await perch.createOrganisation(tier);
  const cwd = mkdtempSync(join(tmpdir(), "perch-desk-"));
  folders.push(cwd);
  const env = { PERCH_URL: perch.url, PERCH_API_KEY: organisation.adminKey, XDG_CONFIG_HOME: join(cwd, "config") };
  return { cwd, organisation, env, perch: createShell({ cwd, env }) };
}

export const removeDesks = (): void =>
  afterAll(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
