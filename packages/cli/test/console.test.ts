import { describe, expect, test } from "vitest";
import { linkIn, signIn } from "../../server/test/support/browser.ts";
import { usePerch } from "../../server/test/support/harness.ts";
import { browserCommand, webAddress } from "../src/open-browser.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch();
removeDesks();

describe("perch console", () => {
  test("prints only an address that signs a browser in once, and shows until when", async () => {
    const { perch } = await newDesk(server());
    const { code, stdout, stderr } = await perch(["console"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${server().url}/console/sign-in#link=[\\w-]{43}\n$`));
    expect(stderr).toContain("It works once, until ");
    const { session } = await signIn(server().url, { link: linkIn(stdout.trim()) });
    expect(session.key_id).toMatch(/^key_/);
    await expect(signIn(server().url, { link: linkIn(stdout.trim()) })).rejects.toThrow("perch console");
  });

  test("opens a browser only if there is a desktop", () => {
    expect(browserCommand({}, "linux")).toBeUndefined();
    expect(browserCommand({ DISPLAY: ":0" }, "linux")).toBe("xdg-open");
    expect(browserCommand({ WAYLAND_DISPLAY: "wayland-0" }, "linux")).toBe("xdg-open");
    expect(browserCommand({}, "darwin")).toBe("open");
    expect(browserCommand({ DISPLAY: ":0" }, "win32")).toBeUndefined();
  });
});

test("the desktop gets nothing but addresses of the web, whatever a server answers", () => {
  expect(webAddress("https://perch.example/console/sign-in#link=a")).toBe(
    "https://perch.example/console/sign-in#link=a",
  );
  expect(webAddress("http://127.0.0.1:7400")).toBe("http://127.0.0.1:7400/");
  for (const other of ["file:///etc/passwd", "/usr/bin/true", "-a Calculator", "javascript:alert(1)", "vscode://x", ""])
    expect(webAddress(other)).toBeUndefined();
});

describe("perch sessions", () => {
  test("lists the sessions of the organisation, and ends one", async () => {
    const { perch, organisation } = await newDesk(server());
    expect((await perch(["sessions"])).stderr).toContain("perch console");
    const request = { headers: { "user-agent": "Firefox" } };
    const { session, send } = await signIn(server().url, { api_key: organisation.adminKey }, request);
    const listed = await perch(["sessions", "list"]);
    expect(listed.stdout).toContain(session.id);
    expect(listed.stdout).toContain("Firefox");
    const revoked = await perch(["sessions", "revoke", session.id, "--yes"]);
    expect([revoked.code, revoked.stdout]).toEqual([0, `${session.id} ended.\n`]);
    expect((await send("/v1/me")).status).toBe(401);
    expect((await perch(["audit"])).stdout).toContain(`ended console session ${session.id}`);
  });
});
