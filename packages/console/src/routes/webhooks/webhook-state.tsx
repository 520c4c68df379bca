import type { Webhook } from "@perch/sdk";
import { StatusMark } from "../../parts/status-mark.tsx";

/** Whether a webhook delivers, and whether its receiver accepts the deliveries. */
export const WebhookState = ({ webhook }: { readonly webhook: Webhook }) => {
  if (webhook.status === "disabled") return <StatusMark status="paused" word="disabled" />;
  return webhook.failing_since === null ? (
    <StatusMark status="active" word="enabled" />
  ) : (
    <StatusMark status="failed" word="failing" />
  );
};
