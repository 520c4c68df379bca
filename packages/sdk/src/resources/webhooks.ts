import { WebhooksMethods } from "../generated-resources.ts";
import { verifyWebhook } from "../verify-webhook.ts";

/** Who is told of events. */
export class Webhooks extends WebhooksMethods {
  /** {@inheritDoc verifyWebhook} */
  readonly verify = verifyWebhook;
}
