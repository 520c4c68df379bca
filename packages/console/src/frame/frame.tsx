import { Outlet, useMatches } from "@tanstack/react-router";
import { Suspense, useCallback, useEffect, useState } from "react";
import { lazyPage, preloadPages } from "../parts/lazy-page.tsx";
import { MayNot } from "../parts/may-not.tsx";
import { Page } from "../parts/page.tsx";
import { Working } from "../parts/working.tsx";
import { useMe } from "../session/session.ts";
import { useAreas } from "./area.ts";
import { CodeRequests } from "./code-requests.tsx";
import { ConnectionLine } from "./connection-line.tsx";
import { Rail } from "./rail.tsx";
import { SessionLine } from "./session-line.tsx";
import { TopBar } from "./top-bar.tsx";
import { useFrameSearch } from "./use-frame-search.ts";
import { useShortcuts } from "./use-shortcuts.ts";

const CommandPalette = lazyPage(() => import("./palette/command-palette.tsx"), "CommandPalette");
const OtherOrganisation = lazyPage(() => import("./other-organisation.tsx"), "OtherOrganisation");
const KeyboardHelp = lazyPage(() => import("./keyboard-help.tsx"), "KeyboardHelp");

/** Adds the organisation to an address without one, so that a colleague who gets the link sees which organisation it is about. */
function useOrganisationInAddress(): string | undefined {
  const { id } = useMe().organisation;
  const [{ org }, change] = useFrameSearch();
  useEffect(() => {
    if (org === undefined) change({ org: id }, { replace: true });
  }, [org, id, change]);
  return org === id ? undefined : org;
}

/** The page, or the reason why the user cannot use it. */
function PageOfArea() {
  const areas = useAreas();
  const { permissions } = useMe().key;
  const area = useMatches({
    select: (matches) =>
      areas.find(({ routes }) => routes.some(({ id }) => matches.some(({ routeId }) => routeId === id))),
  });
  const { needs, place } = area ?? {};
  if (!place || needs?.to === undefined || permissions.includes(needs.permission)) return <Outlet />;
  return (
    <Page title={place.name} width="form">
      <MayNot what={needs.to} permission={needs.permission} />
    </Page>
  );
}

const SkipLink = () => (
  <a
    href="#page"
    className="sr-only z-50 rounded bg-surface p-2 focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
  >
    Skip to the page
  </a>
);

/** The rail, the top bar, and the page beside and below them. */
export function Frame() {
  const [opened, setOpened] = useState<"palette" | "help">();
  // Once opened they stay, and give the focus back by themselves when they close.
  const [wasOpened, setWasOpened] = useState(false);
  const otherOrganisation = useOrganisationInAddress();
  const close = useCallback(() => setOpened(undefined), []);
  const open = useCallback((part: "palette" | "help") => {
    setWasOpened(true);
    setOpened(part);
  }, []);
  const onPalette = useCallback(() => open("palette"), [open]);
  const onHelp = useCallback(() => open("help"), [open]);
  useShortcuts({ onPalette, onHelp });
  useEffect(preloadPages, []);
  return (
    <div className="flex h-full flex-col">
      <SkipLink />
      <ConnectionLine />
      <SessionLine />
      <div className="flex min-h-0 flex-1">
        <Rail />
        <div className="flex min-w-0 flex-1 flex-col">
          <TopBar onPalette={onPalette} />
          <main id="page" tabIndex={-1} className="min-h-0 flex-1 outline-none">
            <Suspense fallback={<Working what="the page" />}>
              {otherOrganisation === undefined ? <PageOfArea /> : <OtherOrganisation id={otherOrganisation} />}
            </Suspense>
          </main>
        </div>
      </div>
      <CodeRequests />
      {wasOpened && (
        <Suspense fallback={null}>
          <CommandPalette isOpen={opened === "palette"} onClose={close} onHelp={onHelp} />
          <KeyboardHelp isOpen={opened === "help"} onClose={close} />
        </Suspense>
      )}
    </div>
  );
}
