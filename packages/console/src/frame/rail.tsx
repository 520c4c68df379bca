import { useQueries } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { classNames } from "../parts/class-names.ts";
import { formatCount } from "../parts/duration.ts";
import { Icon } from "../parts/icon.tsx";
import { type Place, useShownPlaces } from "./area.ts";
import { useStoredFlag } from "./stored-flag.ts";

interface RailLinkProps {
  readonly place: Place;
  readonly isFolded: boolean;
  readonly onGo?: (() => void) | undefined;
}

const activeClass = "bg-accent-soft !text-text font-medium";

const RailLink = ({ place: { route, name, icon, also, openQuery }, isFolded, onGo }: RailLinkProps) => {
  const count = useOpenCount(openQuery);
  const isAlso = useLocation({ select: ({ pathname }) => also !== undefined && pathname.startsWith(also) });
  return (
    <Link
      to={route.to}
      {...(onGo && { onClick: onGo })}
      title={isFolded ? [name, count].filter(Boolean).join(", ") : undefined}
      className={classNames(
        "relative flex h-8 items-center gap-2 rounded px-2 text-muted text-table hover:bg-line hover:text-text",
        isAlso && activeClass,
      )}
      {...(isAlso && { "aria-current": "page" as const })}
      activeProps={{ className: activeClass, "aria-current": "page" }}
    >
      <Icon name={icon} />
      <span className={isFolded ? "sr-only" : undefined}>{name}</span>
      {count !== undefined && (
        <>
          <span className="sr-only">, </span>
          <span
            className={
              isFolded ? "sr-only" : "ml-auto rounded-full bg-warning-soft px-1.5 font-medium text-small text-warning"
            }
          >
            {count}
          </span>
          <span className="sr-only"> open</span>
          {isFolded && <span className="absolute top-1 right-1 size-2 rounded-full bg-warning" />}
        </>
      )}
    </Link>
  );
};

/** The number of open items: "3", "1,000+"; undefined if there are none. */
function useOpenCount(query: Place["openQuery"]): string | undefined {
  const [data] = useQueries({ queries: [query].filter((each) => each !== undefined) }).map((result) => result.data);
  if (!data || data.count === 0) return undefined;
  return `${formatCount(data.count)}${data.relation === "gte" ? "+" : ""}`;
}

interface RailLinksProps {
  readonly isFolded?: boolean;
  readonly onGo?: () => void;
}

/** The links, for the rail and for the sheet that stands for it on a narrow screen. */
export const RailLinks = ({ isFolded = false, onGo }: RailLinksProps) => {
  const places = useShownPlaces();
  const linkTo = (place: Place) => <RailLink key={place.name} {...{ place, isFolded, onGo }} />;
  return (
    <>
      {places.filter(({ isOwn }) => !isOwn).map(linkTo)}
      <hr className="my-2 border-line" />
      {places.filter(({ isOwn }) => isOwn).map(linkTo)}
    </>
  );
};

export function Rail() {
  const [isFolded, setIsFolded] = useStoredFlag("rail-folded");
  return (
    <nav
      aria-label="Main"
      className={classNames(
        "hidden shrink-0 flex-col gap-1 overflow-y-auto *:shrink-0 border-line border-r bg-sunken p-2 md:flex",
        isFolded ? "w-[49px]" : "w-[220px]",
      )}
    >
      <div className="flex h-8 items-center gap-2 px-2 font-semibold" title="Perch">
        <Icon name="perch" />
        <span className={isFolded ? "sr-only" : undefined}>Perch</span>
      </div>
      <RailLinks isFolded={isFolded} />
      <button
        type="button"
        aria-expanded={!isFolded}
        aria-label={isFolded ? "Unfold the rail" : "Fold the rail"}
        title={isFolded ? "Unfold the rail" : "Fold the rail"}
        onClick={() => setIsFolded(!isFolded)}
        className="mt-auto flex h-8 items-center rounded px-2 text-muted hover:bg-line hover:text-text"
      >
        <Icon name={isFolded ? "right" : "left"} />
      </button>
    </nav>
  );
}
