/** The events that a webhook can subscribe to, in words. */
export const subscribableEvents = {
  "agent.completed": "A run has completed, with its response.",
  "agent.failed": "A run has failed or was cancelled, with its error.",
  "agent.action_required": "A run waits for a person's approval.",
  "deployment.activated": "A version serves requests.",
  "deployment.failed": "A version could not be deployed.",
  "deployment.rolled_back": "An environment went back to the version before.",
  "connection.needs_reauth": "A user must connect their account again.",
} as const;
export type SubscribableEvent = keyof typeof subscribableEvents;

export const subscribableNames = Object.keys(subscribableEvents) as readonly SubscribableEvent[];

export const eventNames = [...subscribableNames, "webhook.test"] as const;
export type EventName = (typeof eventNames)[number];
export const eventNameOf = (text: string | undefined): EventName | undefined =>
  eventNames.find((name) => name === text);
