import { useMatches } from "@tanstack/react-router";
import { Keys, paletteKeys } from "./keys.tsx";
import { RailButton } from "./rail-button.tsx";
import type { FrameFilter } from "./search.ts";
import { BarButton } from "./top-bar/bar-button.tsx";
import { EnvironmentMenu } from "./top-bar/environment-menu.tsx";
import { OrganisationMenu } from "./top-bar/organisation-menu.tsx";
import { ThemeMenu } from "./top-bar/theme-menu.tsx";
import { TimeRangeMenu } from "./top-bar/time-range-menu.tsx";

const useTakes = (filter: FrameFilter): boolean =>
  useMatches({ select: (matches) => matches.some(({ staticData }) => staticData.filters?.includes(filter)) });

function PageFilters() {
  const takesEnvironment = useTakes("environment");
  const takesRange = useTakes("range");
  if (!takesEnvironment && !takesRange) return null;
  return (
    <div className="order-last flex w-full min-w-0 md:order-none md:w-auto">
      {takesEnvironment && <EnvironmentMenu />}
      {takesRange && <TimeRangeMenu />}
    </div>
  );
}

/** The organisation, the filters of the page and the way to all pages. On a narrow screen the filters have a second line. */
export const TopBar = ({ onPalette }: { readonly onPalette: () => void }) => (
  <header className="flex shrink-0 flex-wrap items-center gap-x-1 border-line border-b px-2 py-1 text-table md:h-12">
    <RailButton />
    <div className="min-w-0 flex-1">
      <OrganisationMenu />
    </div>
    <PageFilters />
    <BarButton icon="search" title={`Search and commands (${paletteKeys})`} onClick={onPalette}>
      <span className="sr-only md:not-sr-only">Search</span>
      <span className="hidden md:block">
        <Keys keys={paletteKeys} />
      </span>
    </BarButton>
    <ThemeMenu />
  </header>
);
