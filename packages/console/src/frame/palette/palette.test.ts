import { expect, test } from "vitest";
import { type Command, findCommands, inGroups } from "./command.ts";
import { readId } from "./id-kind.ts";

const command = (name: string, words?: string): Command => ({
  ...{ id: name, group: "Agents", name, icon: "agents", run: () => undefined },
  ...(words !== undefined && { words }),
});

test("a pasted id tells its kind and when it was made", () => {
  const suffix = "01m7kvdgnse3z8nm0b88q8vjcg";
  expect(readId(` req_${suffix}\n`)).toEqual({
    prefix: "req",
    id: `req_${suffix}`,
    createdAt: new Date("2026-11-17T04:14:36.729Z"),
  });
});

test.each([
  "req_",
  "req_01m7kvdgnse3z8nm0b88q8vjc",
  "req_81m7kvdgnse3z8nm0b88q8vjcg",
  "support",
  "a req_01m7kvdgnse3z8nm0b88q8vjcg",
])("%s is no id", (text) => {
  expect(readId(text)).toBeUndefined();
});

test("every word that is typed must be somewhere in a command, and names that begin with it come first", () => {
  const commands = [command("old-billing"), command("billing-helper"), command("triage", "billing")];
  expect(findCommands(commands, "Bill").map(({ name }) => name)).toEqual(["billing-helper", "old-billing", "triage"]);
  expect(findCommands(commands, "bill help").map(({ name }) => name)).toEqual(["billing-helper"]);
  expect(findCommands(commands, "nothing")).toEqual([]);
  expect(findCommands(commands, " ")).toEqual(commands);
});

test("commands are numbered as they are shown: those of a group stand together", () => {
  const [agent, help, other] = [
    command("shop"),
    { ...command("Shortcuts"), group: "Help" as const },
    command("shop-eu"),
  ];
  expect(inGroups([agent, help, other])).toEqual([agent, other, help]);
});
