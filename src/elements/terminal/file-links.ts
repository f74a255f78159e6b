import type { ILink, ILinkProvider, Terminal } from '@xterm/xterm'

/** A path with its line and column, as programs print them. */
const named = /(?:[\w.@+~-]*\/)*[\w@+~-][\w.@+~-]*(?::(\d+))?(?::\d+)?/g

/** Makes links of the names of files in the output of a terminal. */
export function fileLinks(
  terminal: Terminal,
  fileAt: (name: string) => Promise<string | undefined>,
  onFile: (path: string, line: number | undefined) => void,
): ILinkProvider {
  return {
    async provideLinks(row, callback) {
      const text = terminal.buffer.active.getLine(row - 1)?.translateToString(true) ?? ''
      const candidates = [...text.matchAll(named)].filter(([name]) => /[/.]/.test(name))
      const links = candidates.map(async ({ 0: name, 1: line, index }): Promise<ILink | undefined> => {
        const path = await fileAt(name.replace(/(?::\d+)+$/, '').replace(/\.$/, ''))
        if (path === undefined) return undefined
        return {
          text: name,
          range: { start: { x: index + 1, y: row }, end: { x: index + name.length, y: row } },
          activate: () => onFile(path, line === undefined ? undefined : Number(line)),
        }
      })
      callback((await Promise.all(links)).filter((link) => link !== undefined))
    },
  }
}
