import { Page } from "../../parts/page.tsx";

export const Secrets = () => <Page title="Secrets">wip</Page>;
