import { Page } from "../../parts/page.tsx";

export const AgentList = () => (
  <Page title="Agents">
    <p className="p-4 text-muted">Agents</p>
  </Page>
);
