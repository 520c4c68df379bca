import { createRoute, createRouter, redirect } from "@tanstack/react-router";
import type { Area } from "./frame/area.ts";
import { PageError } from "./frame/page-error.tsx";
import type { FrameFilter } from "./frame/search.ts";
import { root, signedIn } from "./frame/signed-in.ts";
import { parseSearch, stringifySearch } from "./parts/text-search.ts";
import { agentsArea } from "./routes/agents/agents-area.ts";
import { approvalsArea } from "./routes/approvals/approvals-area.ts";
import { auditArea } from "./routes/audit/audit-area.ts";
import { connectionsArea } from "./routes/connections/connections-area.ts";
import { deploymentsArea } from "./routes/deployments/deployments-area.ts";
import { eventsArea } from "./routes/events/events-area.ts";
import { installationArea } from "./routes/installation/installation-area.ts";
import { keysArea } from "./routes/keys/keys-area.ts";
import { logsArea } from "./routes/logs/logs-area.ts";
import { memoryArea } from "./routes/memory/memory-area.ts";
import { metricsArea } from "./routes/metrics/metrics-area.ts";
import { modelsArea } from "./routes/models/models-area.ts";
import { runsArea } from "./routes/runs/runs-area.ts";
import { secretsArea } from "./routes/secrets/secrets-area.ts";
import { settingsArea } from "./routes/settings/settings-area.ts";
import { signInArea } from "./routes/sign-in/sign-in-area.ts";
import { webhooksArea } from "./routes/webhooks/webhooks-area.ts";
import "./session/sign-in-link.ts";

const home = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/agents" });
  },
});

/** In the order of the rail. `routes/` mirrors the addresses: the pages at `/console/agents/…` are under `routes/agents`. */
const areas = [
  agentsArea,
  runsArea,
  approvalsArea,
  deploymentsArea,
  logsArea,
  metricsArea,
  memoryArea,
  connectionsArea,
  webhooksArea,
  eventsArea,
  keysArea,
  secretsArea,
  modelsArea,
  auditArea,
  settingsArea,
  installationArea,
] as const satisfies readonly Area[];

const routes = areas.flatMap<(typeof areas)[number]["routes"][number]>((area) => area.routes);
const routeTree = root.addChildren([...signInArea.routes, signedIn.addChildren([home, ...routes])]);

export const router = createRouter({
  routeTree,
  context: { areas },
  basepath: "/console",
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    /** The filters of the top bar that the page uses. The top bar shows no others. */
    readonly filters?: readonly FrameFilter[];
  }
}
