import { perchCommand } from "./perch-command.ts";

/** Messages of the server speak of the API. Here, somebody reads them who has commands. */
const translations: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^There is no invocation /, () => "There is no run "],
  [/POST \/v1\/providers\b/g, () => perchCommand("providers add")],
  [/, or POST \/v1\/agents\/\{agent_id\}\/secrets for one agent alone/g, () => ", with --agent for one agent alone"],
  [/POST \/v1\/secrets\b/g, () => perchCommand("secrets set")],
  [
    /POST \/v1\/agents\/(?:\{agent_id\}|([\w-]+))\/connections(?![\w/])(?:` with `"tool": "([^"]+)")?/g,
    (_, agent, tool) => perchCommand(`connections create ${agent ?? "AGENT"} ${tool ?? "TOOL"} USER`),
  ],
  [/POST \/v1\/keys\/(?:\{key_id\}|(key_\w+))\/begin-mfa/g, (_, key) => perchCommand(`keys begin-mfa ${key ?? "KEY"}`)],
  [/(GET|POST|PATCH) \/v1\/(models|mfa|providers)\b/g, (call) => perchCommand(`api ${call}`)],
  [/ Then follow the run again at \S+, with this event's id as Last-Event-ID\./g, () => ""],
  // Before the plain id, which is a part of these paths.
  [
    /(?:POST )?\/v1\/approvals\/(appr_\w+)\/(approve|reject|answer)\b/g,
    (_, id, verb) => `\`${perchCommand(`approvals ${verb} ${id}${verb === "answer" ? " ANSWER" : ""}`)}\``,
  ],
  [/\bat \/v1\/approvals\/(appr_\w+)/g, (_, id) => `with \`${perchCommand(`approvals show ${id}`)}\``],
  [/\/v1\/approvals\/(appr_\w+)/g, (_, id) => `\`${perchCommand(`approvals show ${id}`)}\``],
  [/GET \/v1\/approvals(?:\?status=open)?(?![\w/?])/g, () => perchCommand("approvals")],
  [/` with its `session_id` lists/g, () => " --session ID` lists"],
  // But not in the name of an event, deployment.rolled_back.
  [/(?<![.\w])rolled_back\b/g, () => "rolled back"],
  [/with "redeploy": true/g, () => "with --redeploy"],
  [/with a traffic_percent of 100/g, () => "without --canary"],
  [/Is baseUrl correct\?/, () => "Is the address correct?"],
];

export const inPlainWords = (message: string): string =>
  translations.reduce((text, [pattern, translate]) => text.replace(pattern, translate), message);

/** `context.session_id` is `session` on the command line. What is deeper in a definition keeps its name, which is that of the file. */
export function plainField(field: string): string {
  const name = field.replace(/^context\./, "");
  return name.includes(".") ? name : name.replace(/_id$/, "").replaceAll("_", " ");
}
