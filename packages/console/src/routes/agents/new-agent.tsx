import { Page } from "../../parts/page.tsx";

export const NewAgent = () => (
  <Page title="New agent">
    <p className="p-4 text-muted">New agent</p>
  </Page>
);
