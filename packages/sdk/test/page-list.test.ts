import { beforeAll, describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { Perch } from "../src/index.ts";

const server = usePerch();
let perch: Perch;
let requests: string[];
const names = Array.from({ length: 25 }, (_, index) => `bot-${String(index).padStart(2, "0")}`);
beforeAll(async () => {
  const { adminKey } = await server().createOrganisation();
  requests = [];
  const counting: typeof fetch = (input, init) => {
    requests.push(String(input));
    return fetch(input, init);
  };
  perch = new Perch({ baseUrl: server().url, apiKey: adminKey, fetch: counting });
  for (const name of names) await perch.agents.create({ name, model: "perch/echo" });
});
const requestsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
  requests.splice(0);
  await work();
  return [...requests];
};

describe("a list", () => {
  test("awaited is one page, with its pagination", async () => {
    const sent = await requestsOf(async () => {
      const { data, pagination } = await perch.agents.list({ limit: 3, offset: 5, sort: "name" });
      expect(data.map(({ name }) => name)).toEqual(names.slice(5, 8));
      expect(pagination).toEqual({ limit: 3, offset: 5, total: 25, has_more: true });
    });
    expect(sent).toHaveLength(1);
  });

  test("walked over is all items of all pages, in order", async () => {
    const sent = await requestsOf(async () => {
      const seen: string[] = [];
      for await (const { name } of perch.agents.list({ limit: 10, sort: "name" })) seen.push(name);
      expect(seen).toEqual(names);
    });
    expect(sent).toHaveLength(3);
  });

  test("fetches a page when it gets there, and large ones by default", async () => {
    const few = await requestsOf(async () => {
      for await (const { name } of perch.agents.list({ limit: 10, sort: "name" })) if (name === names[12]) break;
    });
    expect(few).toHaveLength(2);
    const one = await requestsOf(async () => expect(await perch.agents.list().toArray()).toHaveLength(25));
    expect(one).toHaveLength(1);
  });

  test("begins at the query's position, and can be read page by page", async () => {
    const sizes: number[] = [];
    for await (const { data } of perch.agents.list({ limit: 10, offset: 8 }).pages()) sizes.push(data.length);
    expect(sizes).toEqual([10, 7]);
  });

  test("to which something is added meanwhile shows no item twice", async () => {
    const seen: string[] = [];
    for await (const { name } of perch.agents.list({ limit: 10, sort: "-created_at" })) {
      seen.push(name);
      if (seen.length === 5) await perch.agents.create({ name: "late", model: "perch/echo" });
    }
    await perch.agents.delete("late");
    expect(seen).toEqual(names.toReversed());
  });

  test("that has cursors is walked by them", async () => {
    const entries = names.map((message) => ({ message }));
    await perch.logs.add("bot-00", { entries });
    const sent = await requestsOf(async () => {
      const seen = await perch.logs.list("bot-00", { limit: 10 }).toArray();
      expect(seen.map(({ message }) => message).toSorted()).toEqual(names);
    });
    expect(sent.map((url) => new URL(url).searchParams.has("cursor"))).toEqual([false, true, true]);
  });

  test("whose search stopped early continues after an empty page, until there is no cursor", async () => {
    const pages = [
      { data: [], next_cursor: "a" },
      { data: [{ request_id: "req_1" }], next_cursor: "b" },
      { data: [], next_cursor: null },
    ];
    const cursors: (string | null)[] = [];
    const answering: typeof fetch = async (input) => {
      const { data, next_cursor } = pages[cursors.length] ?? { data: [], next_cursor: null };
      cursors.push(new URL(String(input)).searchParams.get("cursor"));
      const pagination = { limit: 100, has_more: next_cursor !== null, next_cursor };
      return Response.json({ data, pagination });
    };
    const client = new Perch({ baseUrl: "https://perch.example", apiKey: "key", fetch: answering });
    const seen = await client.runs.listAll({ status: "failed" }).toArray();
    expect(seen.map(({ request_id }) => request_id)).toEqual(["req_1"]);
    expect(cursors).toEqual([null, "a", "b"]);
  });

  test("that is refused throws, awaited or walked over", async () => {
    await expect(perch.deployments.list("missing")).rejects.toMatchObject({ status: 404 });
    await expect(perch.deployments.list("missing").toArray()).rejects.toMatchObject({ status: 404 });
  });
});
