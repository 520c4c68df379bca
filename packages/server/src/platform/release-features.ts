/**
 * Policies and logins of an agent that a worker without knowledge of them would skip without a word. A release lists
 * those that it understands in its row of `releases`, and a run lists those that it needs. Add a name with each such
 * feature, and never remove or reuse one.
 */
export const releaseFeatures = ["approvals", "connections", "secrets", "approval_floor"] as const;

export type ReleaseFeature = (typeof releaseFeatures)[number];

export const missingFrom = (understood: readonly string[], needed: readonly string[]): string[] =>
  needed.filter((feature) => !understood.includes(feature));
