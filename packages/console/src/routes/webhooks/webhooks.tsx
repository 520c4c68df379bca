import { Page } from "../../parts/page.tsx";

export const Webhooks = () => <Page title="Webhooks">wip</Page>;
