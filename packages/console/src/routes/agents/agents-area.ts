import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";
import { AgentError } from "./agent-error.tsx";
import { parseAgentsSearch } from "./agents-search.ts";
import { parseDefinitionSearch } from "./definition-search.ts";
import { parsePlaygroundSearch } from "./playground-search.ts";
import { parseVersionsSearch } from "./versions-search.ts";

const agents = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents",
  validateSearch: parseAgentsSearch,
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./agent-list.tsx"), "AgentList"),
});

const newAgent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/new",
  component: lazyPage(() => import("./new-agent.tsx"), "NewAgent"),
});

const agent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agent",
  component: lazyPage(() => import("./agent-frame.tsx"), "AgentFrame"),
  errorComponent: AgentError,
});

const agentOverview = createRoute({
  getParentRoute: () => agent,
  path: "/",
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./overview.tsx"), "Overview"),
});

const agentDefinition = createRoute({
  getParentRoute: () => agent,
  path: "/definition",
  validateSearch: parseDefinitionSearch,
  component: lazyPage(() => import("./definition.tsx"), "Definition"),
});

const agentVersions = createRoute({
  getParentRoute: () => agent,
  path: "/versions",
  validateSearch: parseVersionsSearch,
  component: lazyPage(() => import("./versions.tsx"), "Versions"),
});

const agentDeployments = createRoute({
  getParentRoute: () => agent,
  path: "/deployments",
  validateSearch: textSearch("from", "to"),
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./deployments.tsx"), "AgentDeployments"),
});

const agentDeployment = createRoute({
  getParentRoute: () => agent,
  path: "/deployments/$deployment",
  component: lazyPage(() => import("./deployment.tsx"), "DeploymentPage"),
});

const agentSecurity = createRoute({
  getParentRoute: () => agent,
  path: "/security",
  component: lazyPage(() => import("./security.tsx"), "Security"),
});

const playground = createRoute({
  getParentRoute: () => agent,
  path: "/playground",
  validateSearch: parsePlaygroundSearch,
  staticData: { filters: ["environment"] },
  component: lazyPage(() => import("./playground.tsx"), "Playground"),
});

export const agentsArea = {
  routes: [
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
  ],
  place: { route: agents, name: "Agents", icon: "agents", key: "a" },
  commands: [{ route: newAgent, name: "New agent", icon: "plus", words: "create", permission: "write" }],
} as const satisfies Area;
