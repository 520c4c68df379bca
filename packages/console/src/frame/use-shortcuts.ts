import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { placesOf, useAreas } from "./area.ts";
import { focusPageFilter } from "./page-actions.ts";
import { readFlag } from "./stored-flag.ts";

/** Single letters get in the way of users who dictate, so they can be switched off. */
export const singleKeysOff = "single-keys-off";

/** For this long after `g`, the next key chooses a page. */
export const secondKeyMs = 1500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));

const isDialogOpen = (): boolean => document.querySelector('[role="dialog"], [role="menu"]') !== null;

/** Whether the key is a shortcut: no text is being typed, nothing is open, and shortcuts are switched on. */
export const isSingleKey = (event: KeyboardEvent): boolean =>
  !event.ctrlKey &&
  !event.metaKey &&
  !event.altKey &&
  !isTyping(event.target) &&
  !isDialogOpen() &&
  !readFlag(singleKeysOff);

interface Actions {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

export function useShortcuts({ onPalette, onHelp }: Actions): void {
  const navigate = useNavigate();
  const areas = useAreas();
  const pressedG = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const handleSingleKey = (event: KeyboardEvent) => {
      const place = placesOf(areas).find(({ key }) => key === event.key);
      const isSecond = event.timeStamp - pressedG.current < secondKeyMs;
      pressedG.current = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (isSecond && place) {
        document.getElementById("page")?.focus();
        void navigate({ to: place.route.to });
      } else if (event.key === "?") onHelp();
      else if (event.key !== "/" || !focusPageFilter()) return;
      event.preventDefault();
    };
    const handle = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return onPalette();
      }
      if (isSingleKey(event)) handleSingleKey(event);
    };
    document.addEventListener("keydown", handle);
    return () => document.removeEventListener("keydown", handle);
  }, [navigate, areas, onPalette, onHelp]);
}
