import { expect, test } from "vitest";
import { othersOfMine } from "./own-sessions.ts";

const ada = { subject: "1", email: "ada@example.com" };
const session = (id: string, of: object, current = false) =>
  ({ id, current, person: null, key_id: null, ...of }) as never;

test("only sessions of the same person are listed, each once", () => {
  const sessions = [
    session("a", { person: ada }, true),
    session("b", { person: ada }),
    session("c", { person: { ...ada, subject: "2" } }),
    session("d", { key_id: "key_1" }),
    session("b", { person: ada }),
  ];
  expect(othersOfMine(sessions)).toEqual([sessions[1]]);
});

test("only sessions of the same key are listed", () => {
  const sessions = [
    session("a", { key_id: "key_1" }),
    session("b", { key_id: "key_1" }, true),
    session("c", { key_id: "key_2" }),
  ];
  expect(othersOfMine(sessions)).toEqual([sessions[0]]);
});

test("no session is listed if the caller's own session is not known", () => {
  expect(othersOfMine([session("a", { key_id: "key_1" })])).toEqual([]);
});
