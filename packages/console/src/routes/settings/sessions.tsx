import { Page } from "../../parts/page.tsx";

export const Sessions = () => (
  <Page title="Sessions">
    <p className="p-4 text-muted">Sessions</p>
  </Page>
);
