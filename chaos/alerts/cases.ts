import type { AlertCase } from "./alert-case.ts";
import { connectionCases } from "./cases/connections.ts";
import { databaseCases } from "./cases/database.ts";
import { housekeepingCases } from "./cases/housekeeping.ts";
import { partCases } from "./cases/parts.ts";
import { refusalCases } from "./cases/refusals.ts";
import { runCases } from "./cases/runs.ts";

/** Every alert rule has one: `alerts.test.ts` fails otherwise. The longest is last. */
export const alertCases: readonly AlertCase[] = [
  ...housekeepingCases,
  ...partCases,
  ...refusalCases,
  ...connectionCases,
  ...runCases,
  ...databaseCases,
];
