import type { Chunk, FileChange } from './file-change.ts'
import { invalidPatch } from './invalid-patch.ts'

/** Whether a text is a V4A patch: its first header is `*** Begin Patch`. */
export function isV4a(patch: string): boolean {
  return /^(?:\*\*\* Begin Patch|diff --git |--- )/m.exec(patch)?.[0].startsWith('***') === true
}

/**
 * Reads a V4A patch, from `*** Begin Patch` to `*** End Patch`: files that are added, deleted, updated and moved, in
 * chunks that are found by their lines alone. Pure and linear.
 *
 * @throws ToolError `INVALID_PATCH` with `line`
 */
export function parseV4a(patch: string): FileChange[] {
  const rows = patch.split('\n')
  const begin = rows.findIndex((row) => row.startsWith('*** Begin Patch'))
  const changes: FileChange[] = []
  let at = begin + 1

  function row(): string {
    const text = rows[at] as string
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }

  function goesOn(): boolean {
    return at < rows.length && !(rows[at] as string).startsWith('*** ')
  }

  function nameAfter(keyword: string): string {
    const name = row().slice(keyword.length).trim()
    if (name === '') throw invalidPatch(at + 1, 'the name of the file is missing')
    return name
  }

  for (;;) {
    if (at >= rows.length) throw invalidPatch(rows.length, 'the patch does not end with *** End Patch')
    const line = at + 1
    const text = row()
    if (text.startsWith('*** End Patch')) break
    if (text.startsWith('*** Add File: ')) {
      const newPath = nameAfter('*** Add File: ')
      at += 1
      const added: string[] = []
      let isOver = false
      for (; goesOn(); at++) {
        const text = row()
        // Empty rows before the next header are no part of the file.
        isOver ||= text === ''
        if (isOver && text === '') continue
        if (isOver || !text.startsWith('+')) throw invalidPatch(at + 1, 'every line of an added file begins with +')
        added.push(`${text.slice(1)}\n`)
      }
      changes.push({
        line,
        kind: 'create',
        oldPath: null,
        newPath,
        mayCreate: false,
        body: { type: 'text', text: added.join('') },
        insertions: added.length,
        deletions: 0,
      })
    } else if (text.startsWith('*** Delete File: ')) {
      const oldPath = nameAfter('*** Delete File: ')
      at += 1
      for (; goesOn(); at++) {
        if (row().trim() !== '') throw invalidPatch(at + 1, 'nothing may follow the name of a deleted file')
      }
      const body = { type: 'hunks', hunks: [] } as const
      changes.push({
        line,
        kind: 'delete',
        oldPath,
        newPath: null,
        mayCreate: false,
        body,
        insertions: 0,
        deletions: 0,
      })
    } else if (text.startsWith('*** Update File: ')) {
      const oldPath = nameAfter('*** Update File: ')
      at += 1
      let newPath = oldPath
      if (at < rows.length && row().startsWith('*** Move to: ')) {
        newPath = nameAfter('*** Move to: ')
        at += 1
      }
      const { chunks, insertions, deletions } = readChunks()
      const moves = newPath !== oldPath
      if (chunks.length === 0 && !moves) throw invalidPatch(line, 'the update changes nothing')
      const body = { type: 'chunks', chunks } as const
      changes.push({
        line,
        kind: moves ? 'rename' : 'modify',
        oldPath,
        newPath,
        mayCreate: false,
        body,
        insertions,
        deletions,
      })
    } else if (text.trim() === '') at += 1
    else throw invalidPatch(line, '*** Add File:, *** Update File:, *** Delete File: or *** End Patch is expected')
  }
  return changes

  function readChunks(): { chunks: Chunk[]; insertions: number; deletions: number } {
    const chunks: Chunk[] = []
    let insertions = 0
    let deletions = 0
    while (at < rows.length && (goesOn() || row().startsWith('*** End of File'))) {
      const line = at + 1
      const anchors: string[] = []
      for (; at < rows.length && row().startsWith('@@'); at++) {
        const anchor = row().slice(2).trim()
        if (anchor !== '') anchors.push(anchor)
      }
      const oldLines: string[] = []
      const newLines: string[] = []
      const kept: number[] = []
      let context = 0
      let blank = 0
      let atEnd = false
      for (; at < rows.length; at++) {
        const text = row()
        const content = text.slice(1)
        if (text.startsWith('*** End of File')) {
          atEnd = true
          at += 1
          break
        }
        if (text.startsWith('*** ') || text.startsWith('@@')) break
        if (text.startsWith('-')) oldLines.push(content)
        else if (text.startsWith('+')) {
          newLines.push(content)
          kept.push(-1)
        } else if (text.startsWith(' ') || text === '') {
          kept.push(oldLines.length)
          oldLines.push(content)
          newLines.push(content)
          context += 1
        } else throw invalidPatch(at + 1, 'a line of a chunk begins with a blank, + or -')
        blank = text === '' ? blank + 1 : 0
      }
      // Empty rows before the next header are no part of the file.
      oldLines.length -= blank
      newLines.length -= blank
      kept.length -= blank
      context -= blank
      if (oldLines.length === context && newLines.length === context) {
        if (context === 0 && anchors.length === 0 && !atEnd) continue
        throw invalidPatch(line, 'the chunk changes nothing')
      }
      insertions += newLines.length - context
      deletions += oldLines.length - context
      chunks.push({ line, anchors, oldLines, newLines, kept, atEnd })
    }
    return { chunks, insertions, deletions }
  }
}
