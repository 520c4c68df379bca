import { Page } from "../../parts/page.tsx";

export const Metrics = () => <Page title="Metrics">wip</Page>;
