import { createHash } from 'node:crypto'
import { type MemoryEntry, memory } from '../../src/backends/memory/index.ts'
import { type Path, ROOT } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import type { Answer } from '../../src/testing/shell/case.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/workspace/create-workspace.ts'

export type Tree = Readonly<Record<string, MemoryEntry>>

export type { Answer }

export interface Bench {
  readonly backend: Backend
  call(name: string, input: unknown, options?: { signal?: AbortSignal }): Promise<Answer>
  /** Makes a call that must succeed. */
  ok(name: string, input: unknown): Promise<Answer>
  /** Returns the error code of a call that must be refused. */
  code(name: string, input: unknown): Promise<string>
  text(path: string): Promise<string>
  bytes(path: string): Promise<Uint8Array>
  sha(path: string): Promise<string>
  snapshot(): Promise<Record<string, string>>
}

/** Creates a workspace over a memory backend, or over `options.backend`. */
export async function bench(tree: Tree, options: Partial<WorkspaceOptions> = {}): Promise<Bench> {
  const backend = options.backend ?? memory(tree)
  const workspace = await createWorkspace({ policy: 'autonomous', clock: () => 1000, ...options, backend })
  const call: Bench['call'] = (name, input, options) =>
    workspace.callTool(name as string, input, options) as Promise<Answer>
  const bytes = async (path: string) => (await backend.read(path as Path)).bytes
  return {
    backend,
    call,
    async ok(name, input) {
      const answer = await call(name, input)
      if (answer.ok !== true) throw new Error(`${name} was refused: ${JSON.stringify(answer)}`)
      return answer
    },
    async code(name, input) {
      const answer = await call(name, input)
      if (answer.ok !== false) throw new Error(`${name} was not refused: ${JSON.stringify(answer)}`)
      return answer.code as string
    },
    bytes,
    text: async (path) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(await bytes(path)),
    async sha(path) {
      return createHash('sha256')
        .update(await bytes(path))
        .digest('hex')
    },
    snapshot: () => snapshot(backend),
  }
}

/** Reads all entries of a backend directly, and returns a text for each path. */
export async function snapshot(backend: Backend): Promise<Record<string, string>> {
  const texts: Record<string, string> = {}
  const waiting: Path[] = [ROOT]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, type } of await backend.list(directory)) {
      const path = (directory === '' ? name : `${directory}/${name}`) as Path
      if (type === 'directory') {
        texts[path] = 'directory'
        waiting.push(path)
      } else if (type === 'link') texts[path] = `link ${await backend.readLink(path)}`
      else if (type === 'file') {
        const { bytes, stat } = await backend.read(path)
        texts[path] = `file ${stat.mode?.toString(8)} ${Buffer.from(bytes).toString('latin1')}`
      } else texts[path] = type
    }
  }
  return texts
}
