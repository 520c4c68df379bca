import type { Pages } from "@perch/testkit/console/stories/told.ts";
import type { Perch } from "../../../packages/sdk/src/index.ts";

/** Each would set `hacked`, open a dialog or call another host if it were not treated as text. */
export const markup = [
  "<script>window.hacked=1</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(2)>",
  '"><iframe src="http://evil.test/"></iframe>',
  "<style>@import 'http://evil.test/a.css'</style>",
  "[click](javascript:alert(3)) ![](http://evil.test/p.png)",
  "{{constructor.constructor('window.hacked=1')()}}",
  "javascript:window.hacked=1",
].join(" ");
/** Reverses the text that follows, hides characters, and rings the bell. */
const controls = "safe\u202Etxt.exe\u202C \u2066isolated \u200Bzero\u200B \u0007bell \u001B[31mred \uFEFFend";
export const hostile = `${markup} ${controls}`;
export const longWord = "W".repeat(20_000);

/** Pages of one part of the console that show text from outside. */
export interface HostileArea {
  /** The names of the pages, as `plant` returns them. */
  readonly names: readonly string[];
  /** Stores hostile text in every possible place of a new organisation, and returns the addresses under `/console` that show it. */
  readonly plant: (perch: Perch) => Promise<Pages>;
}
