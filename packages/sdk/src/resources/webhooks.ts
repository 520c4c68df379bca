import { WebhooksMethods } from "../generated-resources.ts";
import { verifyWebhook } from "../verify-webhook.ts";

/** URLs that receive events. */
export class Webhooks extends WebhooksMethods {
  /** {@inheritDoc verifyWebhook} */
  readonly verify = verifyWebhook;
}
