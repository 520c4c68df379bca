import { Page } from "../../parts/page.tsx";

export const Connections = () => <Page title="Connections">wip</Page>;
