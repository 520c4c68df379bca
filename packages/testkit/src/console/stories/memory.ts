import type { Pages, Told } from "./told.ts";

const kept: readonly (readonly [user: string | undefined, content: string, metadata?: Record<string, unknown>])[] = [
  [undefined, "The shop is closed on 21 July and between Christmas and New Year."],
  [undefined, "Orders above 40 euros are sent without charge within Belgium.", { source: "terms", year: 2026 }],
  ["customer-1007", "Prefers jasmine tea, and drinks no coffee."],
  ["customer-1007", "Order 4217 arrived two days late; a voucher of 5 euros was sent as an apology."],
  ["customer-1007", "Lives at 14 Canal Street, 9000 Ghent. The bell does not work: the carrier should call."],
  [
    "customer-1019",
    "Buys sencha for an office of twelve people, every first Monday of the month.",
    { segment: "office" },
  ],
  ["customer-1019", "Wants invoices by e-mail, with the number of the order in the subject."],
  ["customer-1031", "Is allergic to bergamot, so never suggest Earl Grey."],
  ["customer-1031", "Asked for the delivery of order 4302 to be moved to a Saturday."],
];

/** The memories of the agent `support` about three customers, and about none in particular. */
export async function tellMemory({ perch }: Told): Promise<Pages> {
  let first = "";
  for (const [user_id, content, metadata] of kept) {
    const session_id = user_id === "customer-1007" ? "chat-2026-0417" : undefined;
    first = (await perch.memory.add("support", { content, user_id, session_id, metadata })).id;
  }
  const search = (query: Record<string, string>) => `/memory?${new URLSearchParams({ agent: "support", ...query })}`;
  return {
    "memory-choice": "/memory",
    memory: search({}),
    "memory-user": search({ user: "customer-1007" }),
    "memory-search": search({ q: "late delivery of an order" }),
    "memory-search-words": search({ q: "invoice order", mode: "text" }),
    "memory-search-nothing": search({ q: "zeppelin", mode: "text" }),
    "memory-one": `/memory/support/${first}?agent=support`,
    "memory-missing": "/memory/support/mem_01h455vb4pex5vsknk084sn02q?agent=support",
    "memory-empty": "/memory?agent=translator",
    "memory-no-agent": "/memory?agent=nobody",
  };
}
