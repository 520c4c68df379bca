import { Page } from "../../parts/page.tsx";

export const Definition = () => (
  <Page title="Definition">
    <p className="p-4 text-muted">Definition</p>
  </Page>
);
