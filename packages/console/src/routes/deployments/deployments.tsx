import { Page } from "../../parts/page.tsx";

export const Deployments = () => <Page title="Deployments">wip</Page>;
