import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { isSignedOut, queryClient } from "./api/query-client.ts";
import { Frame } from "./frame/frame.tsx";
import { NotFound } from "./frame/not-found.tsx";
import { PageError, WholePageError } from "./frame/page-error.tsx";
import { type FrameFilter, parseFrameSearch, retainFrameSearch } from "./frame/search.ts";
import { lazyPage } from "./parts/lazy-page.tsx";
import { parseSearch, stringifySearch, textSearch } from "./parts/text-search.ts";
import { AgentError } from "./routes/agents/agent-error.tsx";
import { parseAgentsSearch } from "./routes/agents/agents-search.ts";
import { parseDefinitionSearch } from "./routes/agents/definition-search.ts";
import { parsePlaygroundSearch } from "./routes/agents/playground-search.ts";
import { parseVersionsSearch } from "./routes/agents/versions-search.ts";
import { parseLogsSearch } from "./routes/logs/logs-search.ts";
import { parseRunSearch } from "./routes/runs/run-search.ts";
import { meQuery } from "./session/session.ts";
import "./session/sign-in-link.ts";

/** `routes/` mirrors the addresses: the file of `/console/agents/…` is under `routes/agents`. */
const root = createRootRoute({ notFoundComponent: NotFound, errorComponent: WholePageError });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>) => ({
    return_to: typeof search.return_to === "string" ? search.return_to : undefined,
    error: typeof search.error === "string" ? search.error : undefined,
  }),
  component: lazyPage(() => import("./routes/sign-in/sign-in.tsx"), "SignIn"),
});

/** Every page but the one to sign in. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  validateSearch: parseFrameSearch,
  search: { middlewares: [retainFrameSearch] },
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (isSignedOut(error))
        throw redirect({ to: "/sign-in", search: { return_to: location.publicHref, error: undefined } });
      throw error;
    }
  },
  component: Frame,
  errorComponent: WholePageError,
});

const home = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/agents" });
  },
});

const agents = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents",
  validateSearch: parseAgentsSearch,
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./routes/agents/agent-list.tsx"), "AgentList"),
});

const newAgent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/new",
  component: lazyPage(() => import("./routes/agents/new-agent.tsx"), "NewAgent"),
});

const agent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agent",
  component: lazyPage(() => import("./routes/agents/agent-frame.tsx"), "AgentFrame"),
  errorComponent: AgentError,
});

const agentOverview = createRoute({
  getParentRoute: () => agent,
  path: "/",
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./routes/agents/overview.tsx"), "Overview"),
});

const agentDefinition = createRoute({
  getParentRoute: () => agent,
  path: "/definition",
  validateSearch: parseDefinitionSearch,
  component: lazyPage(() => import("./routes/agents/definition.tsx"), "Definition"),
});

const agentVersions = createRoute({
  getParentRoute: () => agent,
  path: "/versions",
  validateSearch: parseVersionsSearch,
  component: lazyPage(() => import("./routes/agents/versions.tsx"), "Versions"),
});

const agentDeployments = createRoute({
  getParentRoute: () => agent,
  path: "/deployments",
  validateSearch: textSearch("from", "to"),
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./routes/agents/deployments.tsx"), "AgentDeployments"),
});

const agentDeployment = createRoute({
  getParentRoute: () => agent,
  path: "/deployments/$deployment",
  component: lazyPage(() => import("./routes/agents/deployment.tsx"), "DeploymentPage"),
});

const agentSecurity = createRoute({
  getParentRoute: () => agent,
  path: "/security",
  component: lazyPage(() => import("./routes/agents/security.tsx"), "Security"),
});

const playground = createRoute({
  getParentRoute: () => agent,
  path: "/playground",
  validateSearch: parsePlaygroundSearch,
  staticData: { filters: ["environment"] },
  component: lazyPage(() => import("./routes/agents/playground.tsx"), "Playground"),
});

const runs = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs",
  validateSearch: textSearch("agent", "status", "session", "user", "version"),
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./routes/runs/runs.tsx"), "Runs"),
});

const run = createRoute({
  getParentRoute: () => runs,
  path: "/$agent/$run",
  validateSearch: parseRunSearch,
  component: lazyPage(() => import("./routes/runs/run.tsx"), "RunPage"),
});

const approvals = createRoute({
  getParentRoute: () => signedIn,
  path: "/approvals",
  validateSearch: textSearch("agent", "status", "kind", "user"),
  staticData: { filters: ["environment"] },
  component: lazyPage(() => import("./routes/approvals/approvals.tsx"), "Approvals"),
});

const approval = createRoute({
  getParentRoute: () => approvals,
  path: "/$approval",
  component: lazyPage(() => import("./routes/approvals/approval.tsx"), "ApprovalPage"),
});

const deployments = createRoute({
  getParentRoute: () => signedIn,
  path: "/deployments",
  validateSearch: textSearch("agent", "status"),
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./routes/deployments/deployments.tsx"), "Deployments"),
});

const logs = createRoute({
  getParentRoute: () => signedIn,
  path: "/logs",
  validateSearch: parseLogsSearch,
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./routes/logs/logs.tsx"), "Logs"),
});

const metrics = createRoute({
  getParentRoute: () => signedIn,
  path: "/metrics",
  validateSearch: textSearch("agent", "granularity", "version", "compare"),
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./routes/metrics/metrics.tsx"), "Metrics"),
});

const memory = createRoute({
  getParentRoute: () => signedIn,
  path: "/memory",
  validateSearch: textSearch("agent", "user", "session", "q", "mode"),
  component: lazyPage(() => import("./routes/memory/memory.tsx"), "MemoryBrowser"),
});

const oneMemory = createRoute({
  getParentRoute: () => memory,
  path: "/$agent/$memory",
  component: lazyPage(() => import("./routes/memory/one-memory.tsx"), "OneMemory"),
});

const webhooks = createRoute({
  getParentRoute: () => signedIn,
  path: "/webhooks",
  validateSearch: textSearch("agent", "status"),
  component: lazyPage(() => import("./routes/webhooks/webhooks.tsx"), "Webhooks"),
});

const webhook = createRoute({
  getParentRoute: () => signedIn,
  path: "/webhooks/$webhook",
  validateSearch: textSearch("delivery_status", "event_type"),
  component: lazyPage(() => import("./routes/webhooks/webhook.tsx"), "WebhookPage"),
});

const delivery = createRoute({
  getParentRoute: () => webhook,
  path: "/deliveries/$delivery",
  component: lazyPage(() => import("./routes/webhooks/delivery.tsx"), "DeliveryPage"),
});

const events = createRoute({
  getParentRoute: () => signedIn,
  path: "/events",
  validateSearch: textSearch("agent", "type"),
  staticData: { filters: ["range"] },
  component: lazyPage(() => import("./routes/events/events.tsx"), "Events"),
});

const event = createRoute({
  getParentRoute: () => events,
  path: "/$event",
  component: lazyPage(() => import("./routes/events/event.tsx"), "EventPage"),
});

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: "/keys",
  validateSearch: textSearch("agent", "status"),
  component: lazyPage(() => import("./routes/keys/keys.tsx"), "Keys"),
});

const key = createRoute({
  getParentRoute: () => keys,
  path: "/$key",
  component: lazyPage(() => import("./routes/keys/key.tsx"), "KeyPage"),
});

const secrets = createRoute({
  getParentRoute: () => signedIn,
  path: "/secrets",
  validateSearch: textSearch("agent"),
  component: lazyPage(() => import("./routes/secrets/secrets.tsx"), "Secrets"),
});

const connections = createRoute({
  getParentRoute: () => signedIn,
  path: "/connections",
  validateSearch: textSearch("agent", "user", "tool", "status"),
  staticData: { filters: ["environment"] },
  component: lazyPage(() => import("./routes/connections/connections.tsx"), "Connections"),
});

const connection = createRoute({
  getParentRoute: () => connections,
  path: "/$agent/$connection",
  component: lazyPage(() => import("./routes/connections/connection.tsx"), "ConnectionPage"),
});

const models = createRoute({
  getParentRoute: () => signedIn,
  path: "/models",
  component: lazyPage(() => import("./routes/models/models.tsx"), "Models"),
});

const audit = createRoute({
  getParentRoute: () => signedIn,
  path: "/audit",
  validateSearch: textSearch("operation", "resource", "key", "outcome", "entry"),
  staticData: { filters: ["range"] },
  component: lazyPage(() => import("./routes/audit/audit.tsx"), "AuditLog"),
});

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings",
  component: lazyPage(() => import("./routes/settings/settings-frame.tsx"), "SettingsFrame"),
});

const organisation = createRoute({
  getParentRoute: () => settings,
  path: "/",
  component: lazyPage(() => import("./routes/settings/organisation.tsx"), "Organisation"),
});

const sessions = createRoute({
  getParentRoute: () => settings,
  path: "/sessions",
  component: lazyPage(() => import("./routes/settings/sessions.tsx"), "Sessions"),
});

const secondFactor = createRoute({
  getParentRoute: () => settings,
  path: "/second-factor",
  component: lazyPage(() => import("./routes/settings/second-factor.tsx"), "SecondFactor"),
});

const usersData = createRoute({
  getParentRoute: () => settings,
  path: "/users-data",
  validateSearch: textSearch("erasure"),
  component: lazyPage(() => import("./routes/settings/users-data.tsx"), "UsersData"),
});

const installation = createRoute({
  getParentRoute: () => signedIn,
  path: "/installation",
  component: lazyPage(() => import("./routes/installation/installation.tsx"), "Installation"),
});

const routeTree = root.addChildren([
  signIn,
  signedIn.addChildren([
    home,
    agents,
    newAgent,
    agent.addChildren([
      agentOverview,
      agentDefinition,
      agentVersions,
      agentDeployments,
      agentDeployment,
      agentSecurity,
      playground,
    ]),
    runs.addChildren([run]),
    approvals.addChildren([approval]),
    deployments,
    logs,
    metrics,
    memory.addChildren([oneMemory]),
    webhooks,
    webhook.addChildren([delivery]),
    events.addChildren([event]),
    keys.addChildren([key]),
    secrets,
    connections.addChildren([connection]),
    models,
    audit,
    settings.addChildren([organisation, sessions, secondFactor, usersData]),
    installation,
  ]),
]);

export const router = createRouter({
  routeTree,
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
    /** What the page takes from the top bar, which shows nothing else there. */
    readonly filters?: readonly FrameFilter[];
  }
}
