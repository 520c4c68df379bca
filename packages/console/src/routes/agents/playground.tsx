import { Page } from "../../parts/page.tsx";

export const Playground = () => (
  <Page title="Playground">
    <p className="p-4 text-muted">Playground</p>
  </Page>
);
