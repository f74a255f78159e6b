import type { ILink, ILinkProvider, Terminal } from '@xterm/xterm'

/** What the links of a terminal lead to. */
export interface LinkTargets {
  /** Returns the path of the file that a name refers to, if there is one. */
  readonly fileAt: (name: string) => Promise<string | undefined>
  readonly onFile: (path: string, line: number | undefined) => void
}

/** A path with its line and column, as programs print them. */
const named = /(?:[\w.@+~-]{0,255}\/){0,50}[\w@+~-][\w.@+~-]{0,255}(?::(\d+))?(?::\d+)?/g
/** An address of the web, with what may follow it in a sentence. */
const addresses = /https?:\/\/[^\s"'<>`{}|\\^]+/g
/** Rows of a wrapped line that are read in each direction. */
const MAX_WRAPPED = 50
/** Rows in which a key looks for the next link. */
const MAX_SEARCHED = 2_000

/** Makes links of the files and addresses in the output of a terminal. */
export function linkProvider(terminal: Terminal, targets: LinkTargets): ILinkProvider {
  return {
    async provideLinks(row, callback) {
      callback(await linksAt(terminal, row, targets))
    },
  }
}

/** Returns the links of the line that a row is part of, in order. Rows begin at 1. */
async function linksAt(terminal: Terminal, row: number, { fileAt, onFile }: LinkTargets): Promise<ILink[]> {
  const { text, cells } = wholeLine(terminal, row)
  const link = (from: number, name: string, activate: () => void): ILink => {
    const [start = { x: 1, y: row }, end = start] = [cells[from], cells[from + name.length - 1]]
    return { text: name, range: { start, end }, activate }
  }
  const links: ILink[] = []
  let rest = text
  for (const { 0: match, index } of text.matchAll(addresses)) {
    rest = rest.slice(0, index) + ' '.repeat(match.length) + rest.slice(index + match.length)
    const address = withoutEnd(match)
    if (URL.canParse(address)) links.push(link(index, address, () => openAddress(address)))
  }
  const candidates = [...rest.matchAll(named)].filter(([name]) => /[/.]/.test(name))
  const files = candidates.map(async ({ 0: name, 1: line, index }) => {
    const path = await fileAt(name.replace(/(?::\d+){1,2}$/, '').replace(/\.$/, ''))
    if (path === undefined) return undefined
    return link(index, name, () => onFile(path, line === undefined ? undefined : Number(line)))
  })
  links.push(...(await Promise.all(files)).filter((one) => one !== undefined))
  return links.sort((a, b) => a.range.start.y - b.range.start.y || a.range.start.x - b.range.start.x)
}

/** Returns an address without the end of the sentence, or the bracket, that it stands in. */
function withoutEnd(address: string): string {
  const shorter = address
    .replace(/(?<![.,;:!?*])[.,;:!?*]+$/, '')
    .replace(/\)$/, (bracket) => (address.includes('(') ? bracket : ''))
  return shorter.length === address.length ? address : withoutEnd(shorter)
}

function openAddress(address: string): void {
  globalThis.open(address, '_blank', 'noopener,noreferrer')
}

/** Returns a line with those that it is wrapped into, and the cell of each of its characters. */
function wholeLine(terminal: Terminal, row: number) {
  const { active } = terminal.buffer
  let first = row
  while (row - first < MAX_WRAPPED && active.getLine(first - 1)?.isWrapped === true) first -= 1
  let text = ''
  const cells: { readonly x: number; readonly y: number }[] = []
  for (let y = first; y - row < MAX_WRAPPED; y++) {
    const line = active.getLine(y - 1)
    if (line === undefined || (y > first && !line.isWrapped)) break
    for (let x = 0; x < terminal.cols; x++) {
      const cell = line.getCell(x)
      // The second cell of a wide character has no width.
      if (cell === undefined || cell.getWidth() === 0) continue
      const characters = cell.getChars() || ' '
      text += characters
      for (let unit = 0; unit < characters.length; unit++) cells.push({ x: x + 1, y })
    }
  }
  return { text, cells }
}

/**
 * Creates a handler of keys: Alt with an arrow up or down chooses the previous or next link of the output, and Enter opens it.
 * Returns whether a key is for links.
 *
 * @param announce says what is chosen to people who do not see it
 */
export function createLinkKeys(
  terminal: Terminal,
  targets: LinkTargets,
  announce: (text: string) => void,
): (event: KeyboardEvent) => boolean {
  let chosen: ILink | undefined

  async function step(by: 1 | -1): Promise<void> {
    const { length } = terminal.buffer.active
    const from = chosen?.range.start ?? { x: 0, y: by === 1 ? 0 : length + 1 }
    for (let y = from.y, count = 0; y >= 0 && y <= length + 1 && count < MAX_SEARCHED; y += by, count++) {
      const found = (await linksAt(terminal, y, targets)).filter(({ range: { start } }) => {
        return start.y === y && (y !== from.y || (start.x - from.x) * by > 0)
      })
      const next = by === 1 ? found[0] : found.at(-1)
      if (next !== undefined) return choose(next)
    }
    announce('No further link')
  }

  function choose(link: ILink): void {
    chosen = link
    const { start, end } = link.range
    terminal.select(start.x - 1, start.y - 1, (end.y - start.y) * terminal.cols + end.x - start.x + 1)
    terminal.scrollToLine(Math.max(0, start.y - Math.ceil(terminal.rows / 2)))
    announce(`Link ${link.text}. Enter opens it.`)
  }

  return (event) => {
    if (event.type !== 'keydown' || /^(Alt|Control|Meta|Shift)$/.test(event.key)) return false
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      void step(event.key === 'ArrowUp' ? -1 : 1)
    } else if (event.key === 'Enter' && chosen !== undefined) {
      chosen.activate(new MouseEvent('click'), chosen.text)
      chosen = undefined
      terminal.clearSelection()
    } else {
      if (chosen !== undefined) terminal.clearSelection()
      chosen = undefined
      return false
    }
    event.preventDefault()
    return true
  }
}
