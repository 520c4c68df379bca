import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { styleNonce } from "./style-nonce.ts";

interface CodeEditorOptions {
  readonly parent: HTMLElement;
  /** The label for screen readers. */
  readonly label: string;
  readonly text: string;
  readonly readOnly: boolean;
  readonly onChange: (text: string) => void;
  /** The language and its tools. */
  readonly extensions: Extension;
}

export interface CodeEditor {
  /** Shows another text, unless it is the current one. */
  readonly setText: (text: string) => void;
  readonly setProblems: (
    problems: readonly { readonly from: number; readonly to: number; readonly message: string }[],
  ) => void;
  readonly destroy: () => void;
}

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono, ui-monospace, monospace)", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--sunken) 60%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    maxWidth: "480px",
  },
  ".cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  ".cm-completionInfo": { padding: "6px 8px", whiteSpace: "normal" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--danger)" },
});

const highlighting = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--canary)" },
  { tag: [tags.comment, tags.meta, tags.punctuation, tags.separator], color: "var(--muted)" },
]);

const languageIndependent = [
  lineNumbers(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  highlightActiveLine(),
  lintGutter(),
  syntaxHighlighting(highlighting),
  EditorView.lineWrapping,
  theme,
];

/** A code editor. It is the largest part of the console, so it is loaded only on pages that use it. */
export function createCodeEditor(options: CodeEditorOptions): CodeEditor {
  const view = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        EditorView.cspNonce.of(styleNonce()),
        options.extensions,
        languageIndependent,
        // Escape and then Tab leaves the editor, so the keyboard is not trapped.
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
        EditorState.readOnly.of(options.readOnly),
        EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) options.onChange(state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (text) => {
      if (text !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    setProblems: (problems) => {
      const end = view.state.doc.length;
      const diagnostics = problems.map(({ from, to, message }): Diagnostic => {
        const start = Math.min(from, end);
        return { from: start, to: Math.max(start, Math.min(to, end)), message, severity: "error" };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    destroy: () => view.destroy(),
  };
}
