import { Dialog } from "../parts/dialog.tsx";
import { Keys, paletteKeys } from "./keys.tsx";
import { ownPlaces, places } from "./places.ts";
import { useStoredFlag } from "./stored-flag.ts";
import { singleKeysOff } from "./use-shortcuts.ts";

const shortcuts: readonly (readonly [keys: string, what: string])[] = [
  [paletteKeys, "Search for pages, agents, actions and ids"],
  ...[...places, ...ownPlaces].map(({ key, name }) => [`g ${key}`, `Go to ${name.toLowerCase()}`] as const),
  ["/", "Go to the page's filter"],
  ["Esc", "Close what is open"],
  ["?", "Show this list"],
];

export function KeyboardHelp({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
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
