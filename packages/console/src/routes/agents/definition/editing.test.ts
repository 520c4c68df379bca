import type { Agent } from "@perch/sdk";
import { expect, test } from "vitest";
import { documentOf, parseText } from "./agent-document.ts";
import { editingAfterSave } from "./editing.ts";
import { patchOf } from "./patch-of.ts";

const agent = { model: "perch/echo", instructions: "Echo.", temperature: null } as Agent;
const document = { ...documentOf(agent), temperature: 0.5 };
const sent = { document, text: "model: perch/echo\ninstructions: Echo.\ntemperature: 0.5\n" };
const editing = { base: agent, began: documentOf(agent), text: sent.text };
// Includes another user's change, which was not overwritten.
const saved = { ...agent, temperature: 0.5, model: "perch/script" } as Agent;

test("nothing is left to save if the text was sent, or discarded meanwhile", () => {
  expect(editingAfterSave(editing, sent, saved)).toBeUndefined();
  expect(editingAfterSave(undefined, sent, saved)).toBeUndefined();
});

test("text typed during a save stays, and saving it reverts no other user's change", () => {
  const text = sent.text.replace("Echo.", "Echo it all.");
  const kept = editingAfterSave({ ...editing, text }, sent, saved);
  expect(kept).toMatchObject({ base: saved, text });
  expect(patchOf(kept?.began ?? {}, parseText(text).document ?? {}, {})).toEqual({ instructions: "Echo it all." });
});
