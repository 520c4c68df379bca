/** One attempt of a delivery, as it is queued in the engine. */
export interface DeliveryTask {
  readonly organisationId: string;
  readonly id: string;
  readonly webhookId: string;
  /** Which attempt, from 1. */
  readonly attempt: number;
  /** How often this attempt was deferred because of the limits of its endpoint or organisation. */
  readonly deferred: number;
  /** Sets the task apart from one that the engine remembers and the database does not. */
  readonly again?: string;
}

/** The attempt is the idempotency key: however often it is sent, it runs once. Without slashes, which the engine finds no key by. */
export const attemptKey = ({ id, attempt, deferred, again }: Omit<DeliveryTask, "organisationId" | "webhookId">) =>
  [id, attempt, deferred, ...(again === undefined ? [] : [again])].join(".");
