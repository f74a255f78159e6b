import type { Extension, Range, StateEffectType } from '@codemirror/state'
import type { Decoration, DecorationSet, EditorView } from '@codemirror/view'
import { loadPackages, type Packages } from './packages.ts'

/** CodeMirror as the elements use it. */
export interface CodeMirror extends Packages {
  /** Returns the syntax of a file by its name; nothing for one that is not known. */
  readonly languageOf: (path: string) => Extension
  /** The extensions of every editor. The first line of the text has the number `firstLine`. */
  readonly base: (path: string, label: string, firstLine?: number) => Extension
  /** The extensions of a read-only editor. It can be focused, so that the keyboard can scroll it. */
  readonly reading: () => Extension
  /** The extensions of an editable editor. Tab indents; Escape, then Tab, moves the focus. */
  readonly writing: () => Extension
  readonly marks: LineMarks
}

/** Lines that are marked without being selected. */
export interface LineMarks {
  readonly extension: Extension
  readonly set: StateEffectType<DecorationSet>
  readonly line: (from: number) => Range<Decoration>
}

let loaded: Promise<CodeMirror | undefined> | undefined

/** Loads CodeMirror once. Returns undefined when its packages are not installed. */
export function loadCodeMirror(): Promise<CodeMirror | undefined> {
  loaded ??= loadPackages().then((packages) => packages && setUp(packages))
  return loaded
}

function setUp(packages: Packages): CodeMirror {
  const { state, view, language, commands } = packages
  const { EditorView, keymap } = view
  const colours = coloursOf(packages)
  const looks = EditorView.theme(theme)
  const languageOf = languagesOf(packages)
  return {
    ...packages,
    languageOf,
    base: (path, label, firstLine = 1) => [
      view.lineNumbers({ formatNumber: (line) => String(line + firstLine - 1) }),
      view.highlightSpecialChars(),
      language.foldGutter(),
      view.drawSelection(),
      language.bracketMatching(),
      language.syntaxHighlighting(colours),
      looks,
      languageOf(path),
      // Without the index, accessibility tools do not see that the keyboard can scroll the editor.
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    ],
    reading: () => [state.EditorState.readOnly.of(true), EditorView.editable.of(false)],
    writing: () => [
      commands.history(),
      language.indentOnInput(),
      view.highlightActiveLine(),
      view.highlightActiveLineGutter(),
      keymap.of([...commands.defaultKeymap, ...commands.historyKeymap, ...language.foldKeymap, commands.indentWithTab]),
    ],
    marks: createMarks(packages),
  }
}

function createMarks({ state, view }: Packages): LineMarks {
  const mark = view.Decoration.line({ class: 'cm-followed' })
  const set = state.StateEffect.define<DecorationSet>()
  const extension = state.StateField.define<DecorationSet>({
    create: () => view.Decoration.none,
    update: (before, { changes, effects }) =>
      effects.reduce((now, effect) => (effect.is(set) ? effect.value : now), before.map(changes)),
    provide: (field) => view.EditorView.decorations.from(field),
  })
  return { extension, set, line: (from) => mark.range(from) }
}

/** Returns a function that knows the languages by the extension of a file. */
function languagesOf({ script, json, css, html, markdown }: Packages): CodeMirror['languageOf'] {
  const languages: Readonly<Record<string, () => Extension | undefined>> = {
    js: () => script?.javascript(),
    mjs: () => script?.javascript(),
    cjs: () => script?.javascript(),
    jsx: () => script?.javascript({ jsx: true }),
    ts: () => script?.javascript({ typescript: true }),
    mts: () => script?.javascript({ typescript: true }),
    tsx: () => script?.javascript({ jsx: true, typescript: true }),
    json: () => json?.json(),
    jsonc: () => json?.json(),
    css: () => css?.css(),
    html: () => html?.html(),
    svg: () => html?.html(),
    md: () => markdown?.markdown(),
  }
  return (path) => languages[path.slice(path.lastIndexOf('.') + 1).toLowerCase()]?.() ?? []
}

function coloursOf({ language, highlight: { tags } }: Packages) {
  return language.HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
    { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--code-string)' },
    { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
    { tag: [tags.comment, tags.meta], color: 'var(--code-comment)', fontStyle: 'italic' },
    {
      tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.propertyName],
      color: 'var(--code-name)',
    },
    { tag: [tags.typeName, tags.className, tags.tagName, tags.namespace], color: 'var(--code-type)' },
    { tag: tags.heading, color: 'var(--code-name)', fontWeight: '600' },
    { tag: [tags.link, tags.url], color: 'var(--accent)' },
    { tag: tags.emphasis, fontStyle: 'italic' },
    { tag: tags.strong, fontWeight: '600' },
  ])
}

const theme: Parameters<typeof EditorView.theme>[0] = {
  '&': { height: '100%', backgroundColor: 'var(--panel)', color: 'var(--text)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontVariantLigatures: 'none', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 45%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 30%, transparent)',
  },
  '.cm-followed': {
    backgroundColor: 'color-mix(in srgb, var(--selected) 35%, transparent)',
    boxShadow: 'inset 3px 0 var(--accent)',
  },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  // Two kinds of lines, since no second shade leaves enough contrast to all colours of the code.
  '.cm-searchMatch': { backgroundColor: 'transparent', boxShadow: 'inset 0 0 0 1px var(--edge)' },
  '.cm-searchMatch-selected': { boxShadow: 'inset 0 0 0 2px var(--accent)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selected)', outline: 'none' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--raised)', border: 'none', color: 'var(--muted)' },
  '.cm-collapsedLines': { background: 'var(--raised)', color: 'var(--muted)', padding: '3px 8px' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': {
    backgroundColor: 'color-mix(in srgb, var(--bad-fill) 70%, transparent)',
  },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine, .cm-insertedLine': {
    backgroundColor: 'color-mix(in srgb, var(--good-fill) 75%, transparent)',
  },
  // An underline, since no second shade leaves enough contrast to all colours of the code.
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'none',
    boxShadow: 'inset 0 -2px var(--bad)',
  },
  '&.cm-merge-b .cm-changedText, .cm-changedText': {
    background: 'none',
    boxShadow: 'inset 0 -2px var(--good)',
  },
}
