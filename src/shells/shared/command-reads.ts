import { ToolError } from '../../errors.ts'
import { requireFile } from '../../guard/guarded-files.ts'
import { childOf, type Path, quote } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import { visibleFiles } from '../../storage/walk.ts'
import type { CommandFiles } from '../types.ts'
import type { CommandGate } from './command-gate.ts'

const NO_BYTES = new Uint8Array()

/** The operations of a command's files that change nothing. */
export type CommandReads = Pick<CommandFiles, 'stat' | 'list' | 'read' | 'readLink' | 'realPath' | 'walk' | 'scan'>

export function createCommandReads(gate: CommandGate): CommandReads {
  const { backend, options, marks } = gate
  return {
    stat: (path, statOptions) => gate.visibleStat(path, statOptions?.noFollow),

    async list(path) {
      const directory = await gate.requireVisible(path)
      const entries = await backend.list(directory.path)
      const visible = entries.filter(({ name, type }) => gate.sees(childOf(directory.path, name), type))
      for (const { name } of visible) options.flow?.readName(name)
      return visible
    },

    read: (path) =>
      gate.attempt('file:read', path, async () => {
        const access = await gate.reach({ permission: 'file:read', path })
        const stat = await backend.stat(access.path)
        requireFile(access.path, stat)
        gate.requireFits(path, stat.size, 'has')
        const { bytes } = await backend.read(access.path)
        options.onRead(access.path, bytes.length)
        options.flow?.read(access.asked as Path)
        const markedBytes = marks.hide(bytes, access.path)
        gate.keepContent(access.path, { stored: bytes, shown: markedBytes })
        return markedBytes
      }),

    async readLink(path) {
      const stat = await gate.visibleStat(path, true)
      if (stat?.type === 'link') return backend.readLink(stat.path)
      throw new ToolError(stat === undefined ? 'NOT_FOUND' : 'INVALID_INPUT', `${quote(path)} is not a link`, { path })
    },

    realPath: async (path) => (await gate.requireVisible(path)).path,

    walk: (path, filters) =>
      gate.attempt('file:search', path, async () => {
        const access = await gate.reach({ permission: 'file:search', path })
        const visibility = options.visibility('search')
        const stat = await backend.stat(access.path)
        if (stat?.type === 'file') {
          await gate.reach({ permission: 'file:read', path })
          return [access.path]
        }
        return visibleFiles(backend, access.path, { filters, ...visibility, links: false, signal: options.signal })
      }),

    async scan(paths, wants, visit) {
      const { fileBytes } = options.limits
      const tooLarge: Path[] = []
      const visitFile = (path: Path, stored: Uint8Array, { size }: Pick<Stat, 'size'>): boolean => {
        gate.requireRunning()
        if (size > fileBytes) {
          tooLarge.push(path)
          return true
        }
        const isWanted = wants === undefined || wants(path, stored)
        if (isWanted !== true) return isWanted !== undefined
        options.onRead(path, stored.length)
        return visit(path, marks.hide(stored, path))
      }
      if (backend.scan !== undefined) {
        await backend.scan(paths, visitFile, fileBytes)
        return tooLarge
      }
      for (const path of paths) {
        const stat = await backend.stat(path)
        if (stat?.type !== 'file') continue
        const bytes = stat.size > fileBytes ? NO_BYTES : (await backend.read(path)).bytes
        if (!visitFile(path, bytes, stat)) break
      }
      return tooLarge
    },
  }
}
