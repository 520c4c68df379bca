import { Dialog } from "../parts/dialog.tsx";
import { type Place, useShownPlaces } from "./area.ts";
import { Keys, paletteKeys } from "./keys.tsx";
import { listPageKeys } from "./page-keys.ts";
import { useStoredFlag } from "./stored-flag.ts";
import { singleKeysOff } from "./use-shortcuts.ts";

/** The keys that these places have, and those that every page has. */
const shortcutsTo = (goTo: readonly Place[]): readonly (readonly [keys: string, what: string])[] => [
  [paletteKeys, "Search for pages, agents, actions and ids"],
  ...goTo.map(({ key, name }) => [`g ${key}`, `Go to ${name.toLowerCase()}`] as const),
  ...listPageKeys().map(({ key, what }) => [key, what] as const),
  ["/", "Go to the page's filter"],
  ["Esc", "Close what is open"],
  ["?", "Show this list"],
];

export function KeyboardHelp({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const shortcuts = shortcutsTo(useShownPlaces());
  const [isOff, setIsOff] = useStoredFlag(singleKeysOff);
  return (
    <Dialog open={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 text-table">
        {shortcuts.map(([keys, what]) => (
          <div key={keys} className="contents">
            <dt>
              <Keys keys={keys} isSaid />
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label className="flex items-center gap-2 border-line border-t pt-3 text-table">
        <input type="checkbox" checked={!isOff} onChange={(event) => setIsOff(!event.target.checked)} />
        Use shortcuts of a single key
      </label>
    </Dialog>
  );
}
