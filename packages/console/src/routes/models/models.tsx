import { Page } from "../../parts/page.tsx";

export const Models = () => <Page title="Models">wip</Page>;
