import { expectText } from "./expect.ts";
import type { Trial } from "./trial.ts";

/** Where the program connects: the address that `perch dev` printed, and a key that the user makes for it. */
export async function connectionOf(trial: Trial): Promise<NodeJS.ProcessEnv> {
  if (!trial.made.apiKey) {
    const printed = await trial.run(["perch", "keys", "create", "chatbot", "--json"]);
    const [, apiKey] = /"key": "(perch_\S+)"/.exec(printed) ?? [];
    if (!apiKey) throw new Error(`perch keys create prints no key:\n${printed}`);
    trial.make({ apiKey });
  }
  return { PERCH_URL: trial.the("url"), PERCH_API_KEY: trial.the("apiKey") };
}

/** The same conversation in both languages. */
export const questions = ["Where is order 42?", "When will it be here?"];

/** Both turns are answered, the second one with the first in mind, and the unknown agent is an error that the program shows. */
export function expectConversation(output: string): void {
  expectText(
    output,
    "This is turn 1, and you asked: Where is order 42?",
    "This is turn 2, and you asked: When will it be here?",
    "This is turn 3, and you asked: And without a stream?",
    "[streamed",
    "Refused: 404 not_found",
  );
}
