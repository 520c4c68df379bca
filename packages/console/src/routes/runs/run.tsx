import { Page } from "../../parts/page.tsx";

export const RunPage = () => (
  <Page title="Run">
    <p className="p-4 text-muted">Run</p>
  </Page>
);
