import { Page } from "../../parts/page.tsx";

export const WebhookPage = () => <Page title="Webhook">wip</Page>;
