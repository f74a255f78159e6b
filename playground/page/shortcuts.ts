import { activeFile } from '../session/editor.ts'
import { turned } from '../session/wrapping.ts'
import { endFocusing, focusView } from '../ui/focus-view.ts'
import { app } from './app-state.ts'
import { openSheet } from './approval-sheet.tsx'
import {
  closeTab,
  moveTab,
  putOnStage,
  showAgent,
  showPanel,
  showPhoneTab,
  showStage,
  showTerminal,
  stepTab,
} from './navigation.ts'
import { layout, page } from './page-state.ts'

/** A keyboard shortcut of the page. */
export interface Shortcut {
  readonly keys: string
  readonly does: string
  readonly act: () => void
}

/** Opens the terminal for typing. */
export function goToTerminal(): void {
  showTerminal()
  focusView('wardspace-terminal')
}

/** Opens the changes, with the focus in their list. */
export function goToChanges(): void {
  showPanel('changes')
  focusView('wardspace-diff', '[role="tree"]')
}

/** The shortcuts of the page. `Ctrl` is the command key on a Mac. */
export const shortcuts: readonly Shortcut[] = [
  {
    keys: 'Ctrl P',
    does: 'Go to a file',
    act() {
      page.dialog.value = 'quickOpen'
    },
  },
  {
    keys: 'Ctrl Shift F',
    does: 'Search and replace in all files',
    act() {
      showPanel('search')
      focusView('#search')
    },
  },
  {
    keys: 'Alt 1',
    does: 'The files',
    act() {
      showPanel('files')
      focusView('wardspace-files', '[role="tree"]')
    },
  },
  {
    keys: 'Alt 2',
    does: 'The editor',
    act() {
      showStage('editor')
      focusView('wardspace-editor', '.cm-content')
    },
  },
  {
    keys: 'Alt 3',
    does: 'The terminal',
    act: goToTerminal,
  },
  {
    keys: 'Alt 4',
    does: 'The agent',
    act() {
      showAgent()
      focusView('wardspace-chat', '#composer')
    },
  },
  {
    keys: 'Alt 5',
    does: 'The timeline',
    act() {
      showPanel('timeline')
      focusView('wardspace-timeline', '[role="listbox"]')
    },
  },
  {
    keys: 'Alt 6',
    does: 'The pending approvals',
    act() {
      if (layout.value !== 'phone') {
        putOnStage('approvals')
        focusView('wardspace-approvals', 'article')
      } else if ((app.projectSession.value?.session.approvals.value.length ?? 0) > 0) openSheet()
    },
  },
  {
    keys: 'Alt 7',
    does: 'The changes',
    act: goToChanges,
  },
  {
    keys: 'Alt 8',
    does: 'The history of the files',
    act() {
      if (layout.value === 'phone') showPhoneTab('more')
      focusView('#history')
    },
  },
  {
    keys: 'Alt 9',
    does: 'Follow the agent, or stop following',
    act() {
      const following = app.projectSession.value?.following
      following?.turn(!following.isOn.value)
    },
  },
  { keys: 'Alt PageUp', does: 'The tab before', act: () => stepTab(-1) },
  { keys: 'Alt PageDown', does: 'The tab after', act: () => stepTab(1) },
  { keys: 'Alt Shift PageUp', does: 'Move the file’s tab to the left', act: () => moveTab(-1) },
  { keys: 'Alt Shift PageDown', does: 'Move the file’s tab to the right', act: () => moveTab(1) },
  { keys: 'Alt W', does: 'Close the tab', act: closeTab },
  {
    keys: 'Alt Z',
    does: 'Wrap long lines of the editor, or not',
    act() {
      const file = app.projectSession.value && activeFile(app.projectSession.value.files)
      if (file !== undefined) page.wraps.value = turned(page.wraps.value, file.path)
    },
  },
  {
    keys: 'F1',
    does: 'This list',
    act() {
      page.dialog.value = 'help'
    },
  },
]

/** Handles a shortcut. Returns true if the browser must not handle the key. */
export function takeKey(event: KeyboardEvent): boolean {
  endFocusing()
  const isControl = (event.ctrlKey || event.metaKey) && !event.altKey
  const pressed = isControl
    ? `Ctrl ${event.shiftKey ? 'Shift ' : ''}${event.key.toUpperCase()}`
    : event.altKey && !event.ctrlKey
      ? // With Alt, some keyboards write another character.
        `Alt ${event.shiftKey ? 'Shift ' : ''}${event.code.replace(/^Digit|^Key/, '')}`
      : event.key
  const shortcut = shortcuts.find(({ keys }) => keys === pressed)
  // The browser would save or print the page.
  const isOfBrowser = pressed === 'Ctrl S' || (shortcut !== undefined && isControl)
  // The state of the page changes slightly after the person sees a dialog close.
  if (document.querySelector('dialog[open]') !== null) return isOfBrowser
  shortcut?.act()
  return isOfBrowser || shortcut !== undefined
}
