import { Page } from "../../parts/page.tsx";

export const Installation = () => <Page title="Installation">wip</Page>;
