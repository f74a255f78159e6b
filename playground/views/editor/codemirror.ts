import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { css } from '@codemirror/lang-css'
import { html } from '@codemirror/lang-html'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { markdown } from '@codemirror/lang-markdown'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** Languages by file extension. */
const languages: Readonly<Record<string, () => Extension>> = {
  js: () => javascript(),
  mjs: () => javascript(),
  cjs: () => javascript(),
  jsx: () => javascript({ jsx: true }),
  ts: () => javascript({ typescript: true }),
  mts: () => javascript({ typescript: true }),
  tsx: () => javascript({ jsx: true, typescript: true }),
  json: () => json(),
  jsonc: () => json(),
  css: () => css(),
  html: () => html(),
  svg: () => html(),
  md: () => markdown(),
}

/** Returns the syntax highlighting for a file name. */
export function languageOf(path: string): Extension {
  return languages[path.slice(path.lastIndexOf('.') + 1).toLowerCase()]?.() ?? []
}

const colours = HighlightStyle.define([
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

const looks = EditorView.theme({
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
})

/** The extensions of every editor. The first line of the text has the number `firstLine`. */
export function base(path: string, label: string, firstLine = 1): Extension {
  return [
    lineNumbers({ formatNumber: (line) => String(line + firstLine - 1) }),
    highlightSpecialChars(),
    foldGutter(),
    drawSelection(),
    bracketMatching(),
    syntaxHighlighting(colours),
    looks,
    languageOf(path),
    // Without the index, accessibility tools do not see that the keyboard can scroll the editor.
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ]
}

/** The extensions of a read-only editor. It can be focused, so that the keyboard can scroll it. */
export function reading(): Extension {
  return [EditorState.readOnly.of(true), EditorView.editable.of(false)]
}

/** The extensions of an editable editor. Tab indents; Escape, then Tab, moves the focus. */
export function writing(): Extension {
  return [
    history(),
    indentOnInput(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, indentWithTab]),
  ]
}
