import { describe, expect, test } from "vitest";
import { queryClasses, type RetrievalQuery, retrievalSet } from "./retrieval-set.ts";

const { memories, queries } = retrievalSet();
const contents = new Map(memories.map(({ id, content }) => [id, content]));
const ofClass = (name: RetrievalQuery["class"]) => queries.filter((query) => query.class === name);

const functionWords = new Set(
  `about after again all also and any anything are ask because been before but can cannot could did does each else ever
  every everything for from get gets got had has have her here him his how into its just long may might more most must
  next never not nothing off once one only other our out over own she should some someone than that the their them then
  there these they this those through too two under until very was way were what when where which while who whose why
  will with without would yet you your`.split(/\s+/),
);
const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
/** Words with the same beginning count as one, because a stemmer would find them too. */
const stemsOf = (text: string) =>
  new Set(
    wordsOf(text)
      .filter((word) => word.length > 2 && !functionWords.has(word))
      .map((word) => word.slice(0, 5)),
  );
const sharedStems = ({ query }: RetrievalQuery, id: string) => {
  const inAnswer = stemsOf(contents.get(id) ?? "");
  return [...stemsOf(query)].filter((stem) => inAnswer.has(stem));
};
const memoriesWith = (stem: string) => memories.filter(({ content }) => stemsOf(content).has(stem)).length;
const pairs = (name: RetrievalQuery["class"]) =>
  ofClass(name).flatMap((query) => query.answers.map((id) => ({ query, id })));

describe("the retrieval set", () => {
  test("is large enough to compare designs", () => {
    expect(memories.length).toBeGreaterThanOrEqual(330);
    expect(queries.length).toBeGreaterThanOrEqual(120);
    expect(new Set(memories.flatMap(({ user_id }) => user_id ?? [])).size).toBe(12);
    expect(memories.filter(({ user_id }) => user_id === undefined).length).toBeGreaterThan(100);
    for (const name of queryClasses) expect(ofClass(name).length, name).toBeGreaterThanOrEqual(15);
  });

  test("has no duplicate memory and no duplicate question", () => {
    expect(contents.size).toBe(memories.length);
    expect(new Set(contents.values()).size).toBe(memories.length);
    expect(new Set(queries.map(({ query, user_id }) => `${user_id} ${query}`)).size).toBe(queries.length);
  });

  test("has only answers that are memories visible to the question", () => {
    for (const { query, user_id, answers } of queries) {
      for (const id of answers) {
        const memory = memories.find((one) => one.id === id);
        expect(memory, `${query}: ${id}`).toBeDefined();
        if (user_id) expect(memory?.user_id, query).toBe(user_id);
      }
    }
  });

  test("has memories of one to three sentences", () => {
    for (const { content } of memories) {
      expect(content.length, content).toBeGreaterThan(20);
      expect(content.match(/[.?!]( |$)/g)?.length ?? 0, content).toBeLessThanOrEqual(3);
    }
  });
});

describe("the classes of the retrieval set", () => {
  test("no paraphrase has a content word in common with its answer", () => {
    const shared = pairs("paraphrase").flatMap(({ query, id }) => sharedStems(query, id).map((stem) => [id, stem]));
    expect(shared).toEqual([]);
  });

  test("names and rare words are in the answer and in few other memories", () => {
    for (const { query, id } of [...pairs("name"), ...pairs("rare-word")]) {
      const rare = sharedStems(query, id).filter((stem) => memoriesWith(stem) <= 4);
      expect(rare.length, query.query).toBeGreaterThan(0);
    }
  });

  test("an id is written in the answer as it is in the question", () => {
    for (const { query, answers } of ofClass("id")) {
      const given = query.toLowerCase().match(/[a-z0-9-]*\d[a-z0-9-]*/g) ?? [];
      const texts = answers.map((id) => contents.get(id)?.toLowerCase() ?? "");
      expect(
        given.some((one) => texts.some((text) => text.includes(one))),
        query,
      ).toBe(true);
    }
  });

  test("misspelt words are in the question, in no memory, and correctly spelt in an answer", () => {
    const everyWord = new Set(memories.flatMap(({ content }) => wordsOf(content)));
    for (const { query, answers, misspelt = {} } of ofClass("typo")) {
      expect([1, 2], query).toContain(Object.keys(misspelt).length);
      for (const [wrong, right] of Object.entries(misspelt)) {
        expect(wordsOf(query), query).toContain(wrong);
        expect(everyWord.has(wrong), wrong).toBe(false);
        const inAnswers = answers.some((id) => wordsOf(contents.get(id) ?? "").some((word) => word === right));
        expect(inAnswers, `${query}: ${right}`).toBe(true);
      }
    }
  });

  test("the same question has different answers for different users", () => {
    for (const [question, asked] of Map.groupBy(ofClass("other-users"), ({ query }) => query)) {
      expect(asked.length, question).toBeGreaterThan(1);
      expect(new Set(asked.map(({ user_id }) => user_id ?? "")).size, question).toBe(asked.length);
      expect(new Set(asked.flatMap(({ answers }) => answers)).size, question).toBeGreaterThanOrEqual(asked.length);
    }
  });
});
