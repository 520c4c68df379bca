import { Page } from "../../parts/page.tsx";

export const Events = () => <Page title="Events">wip</Page>;
