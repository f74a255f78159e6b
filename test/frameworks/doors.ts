import { deepagentsBackend, deepagentsSandbox } from '../../dist/adapters/deepagents/index.js'
import type { ApproveHandler, Workspace } from '../../dist/index.js'
import { PLAN, WORD } from '../policy/ways/tree.ts'
import type { DeepagentsProtocol } from './protocols.ts'

/** A target of the functions, with the options that all of them take. */
type Target = Pick<Workspace, 'files' | 'callTool'>
export interface DoorOptions {
  readonly signal?: AbortSignal
  readonly approve?: ApproveHandler
}

/** A target for the names of the uses. */
export const unused = { files: {}, callTool: async () => ({}) } as unknown as Target

/** What each framework can do, in the same words. An operation rejects, or resolves to what the framework gets. */
export interface DoorOperations {
  list(path: string): Promise<unknown>
  read(path: string): Promise<unknown>
  write(path: string, text: string): Promise<unknown>
  run?(line: string): Promise<unknown>
  /** The object that the framework gets. Each of its methods is in `changes` or in `views`, or does not touch files. */
  readonly object: object
  readonly touchesNoFiles?: readonly string[]
  /** Uses that change something below `docs` of the tree of the ways. The first word is the method. */
  readonly changes: Readonly<Record<string, () => Promise<unknown>>>
  /** Uses that show something below `private`, with what shows it if it is not the word in the files. */
  readonly views: Readonly<Record<string, () => Promise<unknown>>>
}

/** A function that opens a workspace for a framework. */
export interface Door {
  /** The name of the function. */
  readonly name: string
  open(target: Target, options?: DoorOptions): DoorOperations
}

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (content: Uint8Array | null | undefined) => new TextDecoder().decode(content ?? undefined)

function deepagents(backend: DeepagentsProtocol): DoorOperations {
  return {
    object: backend,
    list: async (path) => backend.ls(path),
    read: async (path) => backend.read(path),
    write: async (path, content) => backend.write(path, content),
    changes: {
      'write of a new file': async () => backend.write('/docs/new.md', 'n'),
      'write over a file': async () => backend.write('/docs/a.md', 'n'),
      edit: async () => backend.edit('/docs/a.md', 'one', '1'),
      'delete of a file': async () => backend.delete('/docs/a.md'),
      'delete of a directory': async () => backend.delete('/docs/b'),
      uploadFiles: async () => backend.uploadFiles([['/docs/new.md', bytes('n')]]),
    },
    views: {
      read: async () => backend.read(`/${PLAN}`),
      readRaw: async () => backend.readRaw(`/${PLAN}`),
      'ls, deep.md': async () => backend.ls('/private/d'),
      'glob, deep.md': async () => backend.glob('**/*.md'),
      'glob of an absolute pattern, deep.md': async () => backend.glob('/private/**/*.md'),
      grep: async () => backend.grep(WORD),
      'grep with a glob': async () => backend.grep(WORD, '/private', '*.md'),
      downloadFiles: async () => text((await backend.downloadFiles([`/${PLAN}`]))[0]?.content),
      'edit that fails': async () => backend.edit(`/${PLAN}`, 'the word is zanzibaR', 'x'),
    },
  }
}

/** The functions of `docs/guide/sandboxes.md`. */
export const doors: readonly Door[] = [
  { name: 'deepagentsBackend', open: (target, options) => deepagents(deepagentsBackend(target, options)) },
  {
    name: 'deepagentsSandbox',
    open(target, options) {
      const sandbox = deepagentsSandbox(target, options)
      const { object, changes, views, ...operations } = deepagents(sandbox)
      return {
        ...operations,
        object: sandbox,
        run: (line) => sandbox.execute(line),
        changes: {
          'write below the root of commands': () => sandbox.write('/workspace/docs/a.md', 'n'),
          execute: () => sandbox.execute('rm docs/a.md'),
        },
        views: {
          'read below the root of commands': () => sandbox.read(`/workspace/${PLAN}`),
          execute: () => sandbox.execute(`cat ${PLAN}`),
        },
      }
    },
  },
]
