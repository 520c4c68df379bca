import { Page } from "../../parts/page.tsx";

export const AuditLog = () => <Page title="Audit log">wip</Page>;
