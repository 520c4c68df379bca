import { command } from "../command.ts";
import { perchCommand } from "../perch-command.ts";

/** For a POSIX shell, in which only the quote itself has a meaning between single quotes. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export const env = command({
  name: "env",
  summary: "Print the server's address and key as shell exports, for other programs.",
  details:
    "The key is printed only with --show-key, so that it does not end up on a shared screen or in a log by accident. Without it, a key that the shell has is unset, because it may be for another address.",
  options: { "show-key": { type: "boolean", help: "Print the key too." } },
  examples: ['eval "$(perch env --show-key)"'],
  run: async ({ connection, terminal, show }, _, { "show-key": showKey }) => {
    const { url, key, source } = connection();
    show({ PERCH_URL: url, ...(showKey && { PERCH_API_KEY: key }), source }, () => {
      terminal.line(`export PERCH_URL=${quote(url)}`);
      if (showKey) terminal.line(`export PERCH_API_KEY=${quote(key)}`);
      else {
        // A key that the shell has from elsewhere must not be sent to this address.
        terminal.line("unset PERCH_API_KEY");
        terminal.note(`PERCH_API_KEY is not shown. To set both: eval "$(${perchCommand("env --show-key")})"`);
      }
    });
  },
});
