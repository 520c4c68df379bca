import { type HostileArea, hostile, longWord, markup } from "./hostile-area.ts";

/** PostgreSQL's word index keeps words up to 2 KiB, and a memory has up to 8,192 characters. */
const long = longWord.slice(0, 6000);

export const hostileMemory: HostileArea = {
  names: ["memories", "memories found", "memories found by a hostile question", "memory"],
  plant: async (perch) => {
    const user_id = hostile.slice(-120);
    const add = (content: string) =>
      perch.memory.add("hostile", {
        content,
        user_id,
        session_id: markup.slice(0, 200),
        metadata: { [markup.slice(0, 100)]: hostile, word: long.slice(0, 3000) },
      });
    await add(`${hostile} tea`);
    const { id } = await add(`tea ${long} ${hostile}`);
    const search = (query: Record<string, string>) => `/memory?${new URLSearchParams({ agent: "hostile", ...query })}`;
    return {
      memories: search({ user: user_id }),
      "memories found": search({ q: "tea window" }),
      "memories found by a hostile question": search({ q: hostile, mode: "text", session: markup }),
      memory: `/memory/hostile/${id}`,
    };
  },
};
