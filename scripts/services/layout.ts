import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Problem } from "./problem.ts";

export const checkoutDir = resolve(import.meta.dirname, "../..");
export const servicesDir = join(checkoutDir, ".services");
export const envFile = join(servicesDir, "env");
export const lockFile = join(servicesDir, "lock");
export const runDir = join(servicesDir, "run");
export const logDir = join(servicesDir, "log");

export const loopback = "127.0.0.1";
export const portVariable = "PERCH_SERVICES_PORT_BASE";
/** What this checkout used last. */
export const portBaseFile = join(runDir, "port-base");
const lastPortBase = existsSync(portBaseFile) ? readFileSync(portBaseFile, "utf8").trim() : "";
export const portBase = Number(process.env[portVariable] || lastPortBase || 7400);

export const ports = {
  postgres: portBase + 17,
  restateNode: portBase + 22,
  valkey: portBase + 79,
  restateIngress: portBase + 80,
  restateAdmin: portBase + 90,
} as const;

export function assertPortBase(): void {
  if (Number.isInteger(portBase) && portBase >= 1024 && portBase <= 65_400) return;
  throw new Problem(`${portVariable}=${process.env[portVariable]}: expected a whole number from 1024 to 65400`);
}
