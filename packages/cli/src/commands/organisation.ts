import type { Organisation } from "@perch/sdk";
import { command, type Session, yesOption } from "../command.ts";
import { UsageError } from "../problem.ts";

const print = ({ show, terminal }: Session, organisation: Organisation): void =>
  show(organisation, () => {
    const { id, name, tier, manage_grants_approve } = organisation;
    terminal.line(`organisation           ${terminal.safe(name)} (${id}), ${tier}`);
    terminal.line(`manage-grants-approve  ${manage_grants_approve ? "on" : "off"}`);
  });

const showOrganisation = command({
  name: "organisation show",
  summary: "Show the organisation and what it allows.",
  run: async (session) => print(session, await session.perch().organisation.get({ signal: session.signal })),
});

const question =
  "Keys and people with manage can no longer give approve, unless they have it themselves. Only the operator can switch this on again. Continue?";

const set = command({
  name: "organisation set",
  summary: "Change what the organisation allows.",
  details:
    "With --manage-grants-approve off, only a key or person with approve creates, changes or rotates keys with approve, and webhooks with approval links. Keys and webhooks that exist keep what they have. If no key has approve, the operator makes a key with `perch-server create-key --approve`. Only the operator can switch it on again, with `perch-server set-organisation`.",
  options: {
    "manage-grants-approve": { type: "string", choices: ["on", "off"], help: "Whether manage may give approve." },
    yes: yesOption,
  },
  examples: ["perch organisation set --manage-grants-approve off"],
  run: async (session, _, { "manage-grants-approve": state, yes }) => {
    if (state === undefined) throw new UsageError("perch organisation set: --manage-grants-approve is missing.");
    if (state === "off" && !(await session.terminal.confirm(question, yes === true))) return;
    const body = { manage_grants_approve: state === "on" };
    print(session, await session.perch().organisation.update(body, { signal: session.signal }));
  },
});

export const organisationCommands = [showOrganisation, set];
