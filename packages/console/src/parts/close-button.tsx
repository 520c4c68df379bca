import { Icon } from "./icon.tsx";

interface CloseButtonProps {
  /** "the run" */
  readonly what: string;
  readonly onClose: () => void;
}

/** Closes the pane beside a list, as Escape does. */
export const CloseButton = ({ what, onClose }: CloseButtonProps) => (
  <button
    type="button"
    aria-label={`Close ${what}`}
    title={`Close ${what} (Esc)`}
    onClick={onClose}
    className="rounded p-1.5 text-muted hover:bg-sunken hover:text-text"
  >
    <Icon name="cross" />
  </button>
);
