import { Page } from "../../parts/page.tsx";

export const Logs = () => <Page title="Logs">wip</Page>;
