import * as Radix from "@radix-ui/react-dialog";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Icon } from "../../parts/icon.tsx";
import { useFocusReturn } from "../../parts/use-focus-return.ts";
import { type Command, findCommands, inGroups } from "./command.ts";
import { CommandList, optionId } from "./command-list.tsx";
import { useCommands } from "./use-commands.ts";
import { useIdCommand } from "./use-id-command.ts";

interface PaletteProps {
  readonly onRun: (command: Command) => void;
  readonly onHelp: () => void;
}

const moves: Readonly<Record<string, (active: number, count: number) => number>> = {
  ArrowDown: (active, count) => (active + 1) % count,
  ArrowUp: (active, count) => (active - 1 + count) % count,
  PageDown: (active, count) => Math.min(active + 8, count - 1),
  PageUp: (active) => Math.max(active - 8, 0),
};

const Palette = ({ onRun, onHelp }: PaletteProps) => {
  const listId = useId();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const all = useCommands({ typed, onHelp });
  const { commands: byId, note } = useIdCommand(typed);
  const commands = inGroups([...byId, ...findCommands(all, typed)]);
  const active = Math.min(chosen, Math.max(0, commands.length - 1));
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key];
    if (move && commands.length > 0) setChosen(move(active, commands.length));
    const command = commands[active];
    if (event.key === "Enter" && command) onRun(command);
    if (move || event.key === "Enter") event.preventDefault();
  };
  return (
    <>
      <div className="flex items-center gap-2 border-line border-b px-3">
        <Icon name="search" className="size-4 text-muted" />
        <input
          role="combobox"
          aria-label="Search for a page, an agent, an action, or paste an id"
          aria-expanded="true"
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={commands.length > 0 ? optionId(listId, active) : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder="Page, agent, action, or paste an id"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
          className="h-11 w-full bg-transparent text-body outline-none placeholder:text-muted"
        />
      </div>
      <CommandList id={listId} commands={commands} active={active} onActive={setChosen} onRun={onRun} />
      <p role="status" className={note || commands.length === 0 ? "px-3 pt-1 pb-3 text-muted text-table" : "sr-only"}>
        {note ??
          (commands.length === 0 ? "Nothing has this name. An id can be pasted whole." : `${commands.length} found`)}
      </p>
    </>
  );
};

interface CommandPaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

export function CommandPalette({ isOpen, onClose, onHelp }: CommandPaletteProps) {
  const chosen = useRef<Command>(undefined);
  const returnFocus = useFocusReturn(isOpen);
  const choose = (command: Command) => {
    chosen.current = command;
    onClose();
  };
  const leave = (event: Event) => {
    returnFocus(event);
    // Runs after the focus is given back, so that the command can take it.
    const command = chosen.current;
    chosen.current = undefined;
    if (command?.group === "Go to" || command?.group === "Agents") document.getElementById("page")?.focus();
    command?.run();
  };
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[#00000066]" />
        <Radix.Content
          onCloseAutoFocus={leave}
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 flex max-h-[70vh] w-[min(600px,calc(100vw-24px))] -translate-x-1/2 flex-col rounded border border-line-strong bg-surface shadow-xl"
        >
          <Radix.Title className="sr-only">Command palette</Radix.Title>
          <Palette onRun={choose} onHelp={onHelp} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
