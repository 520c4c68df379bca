import { Page } from "../../parts/page.tsx";

export const Overview = () => (
  <Page title="Overview">
    <p className="p-4 text-muted">Overview</p>
  </Page>
);
