import { Page } from "../../parts/page.tsx";

export const Versions = () => (
  <Page title="Versions">
    <p className="p-4 text-muted">Versions</p>
  </Page>
);
