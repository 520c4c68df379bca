// The order matters, because each browser also names those that it is compatible with.
const browsers = ["Edg", "OPR", "Firefox", "Chrome", "Safari"] as const;
const names: Readonly<Record<string, string>> = { Edg: "Edge", OPR: "Opera" };
const systems = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bMac OS X\b/, "macOS"],
  [/\bWindows\b/, "Windows"],
  [/\bLinux\b/, "Linux"],
] as const;
const maxOtherLength = 60;

/** `Chrome on Linux`, or the name that the program gave itself. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null) return "-";
  const browser = browsers.find((name) => userAgent.includes(`${name}/`));
  if (browser === undefined) return userAgent.slice(0, maxOtherLength);
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1];
  return `${names[browser] ?? browser}${system === undefined ? "" : ` on ${system}`}`;
}
