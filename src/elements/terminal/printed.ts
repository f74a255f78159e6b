import type { Terminal as Screen } from '@xterm/xterm'
import { fitted } from './sentences.ts'

/** Characters that are written at once. A longer text would stop the page. */
const PIECE = 16_384
/** Characters that are kept, about as many as the screen can scroll back to. */
const MAX_KEPT = 1_000_000
/** Texts that are joined, since a part of a text keeps the whole text in memory. */
const JOINED = 32
const ERASE_ALL = '\x1b[2J\x1b[3J\x1b[H'

/** What is on a screen above the edited line. */
export interface Printed {
  /** Writes a text that may be overwritten. */
  readonly write: (text: string) => void
  /** Keeps a text that stays on the screen, for screens of another width. It is written by `write`. */
  readonly keep: (text: string) => void
  /** Writes and keeps a text. */
  readonly print: (text: string) => void
  readonly forget: () => void
  /**
   * Writes everything again if sentences break elsewhere in the present width.
   *
   * @param unfinished the end of the last line, which is not written
   * @returns whether it was written
   */
  readonly fit: (unfinished: string) => boolean
}

export function createPrinted(screen: Pick<Screen, 'buffer' | 'cols' | 'scrollLines' | 'write'>): Printed {
  let kept: string[] = []
  let recent: string[] = []
  let length = 0
  let columns = screen.cols
  const write = (text: string) => {
    const shown = fitted(text, screen.cols)
    for (let at = 0; at < shown.length; at += PIECE) screen.write(shown.slice(at, at + PIECE))
  }
  const keep = (text: string) => {
    recent.push(text)
    length += text.length
    if (recent.length < JOINED) return
    kept.push(recent.join(''))
    recent = []
    while (length > MAX_KEPT && kept.length > 1) length -= kept.shift()?.length ?? 0
  }
  return {
    write,
    keep,
    print(text) {
      write(text)
      keep(text)
    },
    forget() {
      kept = []
      recent = []
      length = 0
    },
    fit(unfinished) {
      const before = columns
      columns = screen.cols
      const all = [...kept, ...recent]
      if (before === columns || all.every((text) => fitted(text, before) === fitted(text, columns))) return false
      const { baseY, viewportY } = screen.buffer.active
      const text = all.join('')
      write(ERASE_ALL)
      write(text.endsWith(unfinished) ? text.slice(0, text.length - unfinished.length) : text)
      // A person who has scrolled up stays there.
      if (viewportY < baseY) screen.write('', () => screen.scrollLines(viewportY - baseY))
      return true
    },
  }
}
