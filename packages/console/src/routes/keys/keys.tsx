import { Page } from "../../parts/page.tsx";

export const Keys = () => <Page title="Keys">wip</Page>;
