/** Sentences of a support desk: enough different ones to embed, and to ask for. */
const who = [
  "The customer",
  "A partner in Lisbon",
  "Our driver",
  "The night shift",
  "A new tenant",
  "The auditor",
  "Somebody from sales",
  "The school",
];
const what = [
  "asked to move the delivery",
  "reported a leaking pump",
  "wants the invoice in another currency",
  "returned the blue lamp",
  "complained about the noise of the fan",
  "cannot open the gate with the new code",
  "prefers calls in the morning",
  "lost the key of the meter room",
  "needs a quote for forty chairs",
  "found a crack in the glass",
  "praised the new coffee machine",
  "forgot the password of the shared mailbox",
  "stopped the subscription",
  "ordered spare belts",
  "moved to another floor",
  "is allergic to the cleaning agent",
];
const when = [
  "before Easter",
  "at the end of March",
  "since Tuesday",
  "after the storm",
  "every second week",
  "during the fair",
  "in the afternoon",
  "twice this year",
];
const why = [
  "because the ramp is being repaired",
  "and the manager agreed",
  "though the contract says otherwise",
  "so somebody must call back",
  "as the warranty has ended",
  "which the insurance pays",
  "but nobody was there",
  "and left a note at the desk",
];

const pick = (list: readonly string[], n: number): string => list[n % list.length] ?? "";

/** The n-th of 8,192 sentences. */
export const sentence = (n: number): string =>
  `${pick(who, n)} ${pick(what, Math.floor(n / 8))} ${pick(when, Math.floor(n / 128))}, ${pick(why, Math.floor(n / 1024))}.`;

/** Questions that paraphrase the sentences, most of them with the number of one memory. */
export const question = (n: number, size: number): string =>
  [
    `Who had trouble with ${["water", "the entrance", "a bill", "a broken window", "the machine"][n % 5]} lately?`,
    `What do we know about REF-${1 + ((n * 7919) % size)}?`,
    `${pick(who, n * 3)} called ${pick(when, n)}: what was it about?`,
  ][n % 3] ?? "";
