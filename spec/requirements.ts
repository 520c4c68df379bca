import { agents } from "./requirements/agents.ts";
import { approvals } from "./requirements/approvals.ts";
import { audit } from "./requirements/audit.ts";
import { authentication } from "./requirements/authentication.ts";
import { connections } from "./requirements/connections.ts";
import { consoleSessions } from "./requirements/console-sessions.ts";
import { deployments } from "./requirements/deployments.ts";
import { erasures } from "./requirements/erasures.ts";
import { errors } from "./requirements/errors.ts";
import { events } from "./requirements/events.ts";
import { installation } from "./requirements/installation.ts";
import { invocations } from "./requirements/invocations.ts";
import { keys } from "./requirements/keys.ts";
import { limits } from "./requirements/limits.ts";
import { lists } from "./requirements/lists.ts";
import { logsAndMetrics } from "./requirements/logs-and-metrics.ts";
import { memory } from "./requirements/memory.ts";
import { models } from "./requirements/models.ts";
import { operations } from "./requirements/operations.ts";
import { people } from "./requirements/people.ts";
import type { RequirementTable } from "./requirements/requirement.ts";
import { responses } from "./requirements/responses.ts";
import { secrets } from "./requirements/secrets.ts";
import { security } from "./requirements/security.ts";
import { service } from "./requirements/service.ts";
import { versioning } from "./requirements/versioning.ts";
import { webhooks } from "./requirements/webhooks.ts";

/** Every statement of docs/specification.md, and the decision if it is silent. Tests name these ids. */
export const requirements = {
  ...service,
  ...agents,
  ...invocations,
  ...models,
  ...approvals,
  ...secrets,
  ...connections,
  ...deployments,
  ...logsAndMetrics,
  ...memory,
  ...webhooks,
  ...keys,
  ...operations,
  ...responses,
  ...lists,
  ...authentication,
  ...consoleSessions,
  ...people,
  ...security,
  ...audit,
  ...erasures,
  ...events,
  ...errors,
  ...limits,
  ...versioning,
  ...installation,
} as const satisfies RequirementTable;

export type RequirementId = keyof typeof requirements;

/** Statements whose feature does not exist yet. The author of a feature removes its id from this list. */
export const notBuiltYet: readonly RequirementId[] = ["versioning.additive-changes"];

/** May only be lowered. */
export const notBuiltYetAtMost = 1;
