import type { FitAddon } from '@xterm/addon-fit'
import type { Terminal as Screen } from '@xterm/xterm'
import type { Terminal } from '../../ui/terminal.ts'
import { isIncomplete } from './incomplete.ts'
import { createLineEditor } from './line-editor.ts'
import { grey, promptOf, startOf, textOf } from './line-text.ts'
import { createLinkKeys, type LinkTargets, linkProvider } from './links.ts'
import { createPrinted } from './printed.ts'
import { sentence } from './sentences.ts'

/** What a terminal shows and does beside the lines. */
export interface TerminalParts {
  /** Shown above the first line. */
  readonly greeting: string | undefined
  /** Opens a file that an output names. */
  readonly onFile: (path: string, line: number | undefined) => void
}

/** The classes of the packages that the terminal needs. */
export interface TerminalClasses {
  readonly Terminal: typeof Screen
  readonly FitAddon: typeof FitAddon
}

/** Opens a terminal in an element. Returns a function that removes it. */
export function openTerminal(
  classes: TerminalClasses,
  place: HTMLElement,
  controller: Terminal,
  { greeting, onFile }: TerminalParts,
): () => void {
  const fontFamily = getComputedStyle(place).getPropertyValue('--mono')
  const screen = new classes.Terminal({
    fontFamily,
    fontSize: 13,
    lineHeight: 1.25,
    convertEol: true,
    screenReaderMode: true,
    scrollback: 5_000,
    theme: coloursOf(place),
  })
  const fit = new classes.FitAddon()
  screen.loadAddon(fit)
  const removeSheets = withSheets(place, () => screen.open(place))
  const printed = createPrinted(screen)
  const { root } = controller.snapshot
  const lines = showLines(controller)
  const editor = createLineEditor({
    ...printed,
    columns: () => screen.cols,
    prompt: () => promptOf(root, controller.snapshot.cwd),
    get history() {
      return controller.snapshot.history
    },
    async run(line) {
      lines.echoed()
      await controller.run(line)
    },
    enter: controller.enter,
    interrupt: controller.stop,
    clear() {
      controller.clear()
      printed.forget()
      screen.clear()
    },
    complete: controller.complete,
    isIncomplete,
  })
  const links = addLinks(screen, place, { fileAt: controller.fileAt, onFile })
  screen.attachCustomKeyEventHandler((event) => !links.takeKey(event) && isOfLine(event, editor.isEmpty))
  screen.onData(editor.take)
  if (screen.textarea !== undefined) prepareField(screen.textarea, editor.take)
  if (greeting !== undefined) printed.print(grey(`${sentence(greeting)}\n`))
  screen.onResize(() => {
    if (printed.fit(editor.unfinished)) editor.showAgain()
  })
  editor.begin(ended(controller))
  const unsubscribe = controller.subscribe(() => {
    const text = lines.next()
    if (text !== '') editor.interject(text)
    editor.wait(controller.snapshot.waitsFor)
  })
  const stopFollowing = followPlace(place, {
    onSize: () => fit.fit(),
    onColours() {
      screen.options.theme = coloursOf(place)
    },
    onFonts() {
      // The terminal measures its characters again when the option has another value.
      screen.options.fontFamily = screen.options.fontFamily === fontFamily ? `${fontFamily}, monospace` : fontFamily
      fit.fit()
    },
  })
  return () => {
    unsubscribe()
    stopFollowing()
    screen.dispose()
    links.remove()
    removeSheets()
  }
}

/** Whether the terminal takes a key. Tab completes a line that has begun. On an empty one, and with Shift, it leaves the terminal. */
function isOfLine(event: KeyboardEvent, isEmpty: boolean): boolean {
  return !isOfPage(event) && !isPaste(event) && (event.key !== 'Tab' || (!event.shiftKey && !isEmpty))
}

/** Whether a key means nothing to a line, so that the page around the terminal gets it: a function key, or Alt with a digit or a page key. */
function isOfPage({ key, code, altKey, ctrlKey }: KeyboardEvent): boolean {
  return /^F\d+$/.test(key) || (altKey && !ctrlKey && /^(Digit\d|Page(Up|Down))$/.test(code))
}

/** Whether a key pastes: the browser then does so, and the terminal would take a control character instead. */
function isPaste({ key, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'v' && ctrlKey !== metaKey && !altKey
}

/**
 * Names the field of a terminal, and takes text that comes without a key, such as an emoji of a panel or a word of a keyboard on a
 * screen. For screen readers, the terminal leaves such text in its field and does not pass it on.
 */
function prepareField(field: HTMLTextAreaElement, take: (text: string) => void): void {
  field.ariaLabel = 'Terminal input'
  // The focus of the element goes here, and not to the first row of the output.
  field.autofocus = true
  field.ariaDescription =
    'Tab completes a line; on an empty line it leaves the terminal. Alt with an arrow up or down chooses a link of the output, Enter opens it.'
  let isKeyDown = false
  const setKeyDown = (isDown: boolean) => () => {
    isKeyDown = isDown
  }
  field.addEventListener('keydown', setKeyDown(true), true)
  field.addEventListener('keyup', setKeyDown(false), true)
  field.addEventListener('blur', setKeyDown(false))
  field.addEventListener('input', (event) => {
    const { data, inputType } = event as InputEvent
    if (inputType === 'insertText' && data !== null && !isKeyDown) take(data)
  })
}

/** Makes links of the files and addresses in the output, for the pointer and for keys. What is chosen by a key is announced. */
function addLinks(screen: Screen, place: HTMLElement, targets: LinkTargets) {
  const status = place.appendChild(document.createElement('div'))
  status.role = 'status'
  status.className = 'visually-hidden'
  screen.registerLinkProvider(linkProvider(screen, targets))
  const takeKey = createLinkKeys(screen, targets, (text) => {
    status.textContent = text
  })
  return { takeKey, remove: () => status.remove() }
}

/**
 * Runs a function that adds `<style>` elements to a place in a shadow root. What is written into them goes to style sheets of the root, which
 * a Content-Security-Policy without inline styles allows. Returns a function that removes the sheets.
 */
function withSheets(place: HTMLElement, open: () => void): () => void {
  const root = place.getRootNode() as ShadowRoot
  const sheets: CSSStyleSheet[] = []
  const own = Object.getOwnPropertyDescriptor(document, 'createElement')
  const create = document.createElement.bind(document)
  const createElement = (name: string, options?: ElementCreationOptions) => {
    if (name !== 'style') return create(name, options)
    const sheet = new CSSStyleSheet()
    sheets.push(sheet)
    const set = (text: string) => sheet.replaceSync(text)
    return Object.defineProperty(create('template'), 'textContent', { set })
  }
  Object.defineProperty(document, 'createElement', { value: createElement, configurable: true, writable: true })
  try {
    open()
  } finally {
    Reflect.deleteProperty(document, 'createElement')
    if (own !== undefined) Object.defineProperty(document, 'createElement', own)
  }
  root.adoptedStyleSheets = [...sheets, ...root.adoptedStyleSheets]
  return () => {
    root.adoptedStyleSheets = root.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet))
  }
}

/** Returns what the lines of a controller have printed since the last time. */
function showLines(controller: Terminal) {
  const { root } = controller.snapshot
  const written = new Map<number, number>()
  let isEchoed = false
  return {
    /** The next line of the person is on the screen already. */
    echoed() {
      isEchoed = true
    },
    next(): string {
      const texts = controller.snapshot.lines.map((line) => {
        const text = textOf(root, line)
        const from = written.get(line.id) ?? (isEchoed && line.actor === 'person' ? startOf(root, line).length : 0)
        if (!written.has(line.id) && line.actor === 'person') isEchoed = false
        if (text.length > from || !written.has(line.id)) written.set(line.id, Math.max(from, text.length))
        return text.slice(from)
      })
      return texts.join('')
    },
  }
}

/** Resolves when no line runs. */
function ended(controller: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = controller.subscribe(({ isRunning }) => {
      if (isRunning) return
      resolve()
      queueMicrotask(() => unsubscribe())
    })
  })
}

/** Reports changes of the size and the colours of a place, and fonts that have loaded. Returns a function that ends this. */
function followPlace(
  place: HTMLElement,
  { onSize, onColours, onFonts }: Record<'onSize' | 'onColours' | 'onFonts', () => void>,
): () => void {
  const size = new ResizeObserver(() => place.clientHeight > 20 && onSize())
  size.observe(place)
  const theme = new MutationObserver(onColours)
  theme.observe(document.documentElement, { attributes: true })
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', onColours)
  document.fonts.addEventListener('loadingdone', onFonts)
  return () => {
    document.fonts.removeEventListener('loadingdone', onFonts)
    size.disconnect()
    theme.disconnect()
    scheme.removeEventListener('change', onColours)
  }
}

/** The colours of a place in the format of the terminal. */
function coloursOf(place: HTMLElement) {
  const probe = place.appendChild(document.createElement('span'))
  const value = (name: string) => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const colours = {
    background: value('panel'),
    foreground: value('text'),
    cursor: value('text'),
    cursorAccent: value('panel'),
    selectionBackground: value('selected'),
    red: value('bad'),
    green: value('good'),
    yellow: value('warn'),
    blue: value('accent'),
    magenta: value('changed'),
    brightBlack: value('muted'),
    white: value('text'),
    brightWhite: value('text'),
    scrollbarSliderBackground: value('line'),
    scrollbarSliderHoverBackground: value('muted'),
    scrollbarSliderActiveBackground: value('muted'),
  }
  probe.remove()
  return colours
}
