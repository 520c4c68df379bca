import { Page } from "../../parts/page.tsx";

export const MemoryBrowser = () => <Page title="Memory">wip</Page>;
