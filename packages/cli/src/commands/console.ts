import { command, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { noOpenOption, openBrowser } from "../open-browser.ts";
import { browserName } from "../output/browser-name.ts";
import { printEmpty, printMore, printTable } from "../output/table.ts";
import { perchCommand } from "../perch-command.ts";

export const console = command({
  name: "console",
  summary: "Open the console in your browser, signed in with your key.",
  details:
    "Prints an address that signs a browser in once, within 5 minutes, and opens it if there is a desktop. The session may do what your key may do, for 12 hours at most.",
  options: { "no-open": noOpenOption },
  examples: ["perch console", "perch console --no-open"],
  run: async ({ perch, terminal, env, show, signal, time }, _, { "no-open": noOpen }) => {
    const link = await perch().consoleSessions.createLink({ signal });
    show(link, () => {
      terminal.line(link.url);
      const isOpened = noOpen !== true && openBrowser(link.url, { terminal, env });
      const how = isOpened ? "Opening it in your browser." : "Open it in a browser.";
      terminal.note(`${how} It works once, until ${time(link.expires_at)}.`);
    });
  },
});

const list = command({
  name: "sessions list",
  summary: "List sessions of browsers in the console.",
  details: "Sessions that your key began, and with the permission manage all of the organisation.",
  options: listOptions,
  run: async ({ perch, terminal, show, signal, time }, _, page) => {
    const found = await perch().consoleSessions.list(pageOf(page), { signal });
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "sessions",
          narrowedBy: [page.offset],
          next: `Begin one with \`${perchCommand("console")}\`.`,
        });
      const rows = found.data.map((one) => [
        one.id,
        one.person?.email ?? one.person?.subject ?? one.key_id ?? "",
        one.role ?? "",
        one.address,
        browserName(one.user_agent),
        time(one.last_used_at),
        time(one.expires_at),
      ]);
      printTable(terminal, ["id", "who", "role", "address", "browser", "last used", "expires"], rows, {
        truncate: ["browser"],
      });
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

const revoke = command({
  name: "sessions revoke",
  summary: "End a session of a browser immediately.",
  args: ["session"],
  options: { yes: yesOption },
  examples: ["perch sessions revoke cse_01h455vb4pex5vsknk084sn02q"],
  run: async ({ perch, terminal, show, signal }, { session }, { yes }) => {
    if (!(await terminal.confirm(`End ${session} immediately? Its browser has to sign in again.`, yes === true)))
      return;
    const ended = await perch().consoleSessions.end(session, { signal });
    show(ended, () => terminal.line(`${ended.id} ended.`));
  },
});

export const sessionCommands = [list, revoke];
