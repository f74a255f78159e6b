import type { Path } from 'wardspace'
import { createFiles, type Files } from 'wardspace/ui'
import { followed } from './followed.ts'
import type { OpenFiles } from './open-files.ts'
import type { Session } from './types.ts'

export interface TreeParts {
  readonly session: Pick<Session, 'project' | 'workspace' | 'revision' | 'callAsOwner' | 'changeFiles' | 'undo'>
  readonly files: Pick<OpenFiles, 'all' | 'moved' | 'removed'>
}

/** Opens the tree of all files, since they belong to the person. Tabs follow what is moved or deleted there. */
export function openTree({ session, files }: TreeParts): Files {
  const { backend } = session.project
  return createFiles({
    workspace: followed(session),
    run: { callTool: session.callAsOwner },
    source: {
      list: async (path) => ({ entries: await backend.list(path as Path).catch(() => undefined) }),
      typeOf: async (path) => (await backend.stat(path as Path).catch(() => undefined))?.type,
    },
    changeFiles: session.changeFiles,
    onMove: (path, to) => files.moved(path, to),
    onRemove: (path) => files.removed(path),
    hasDraft: (path) => files.all.value.some((file) => file.path === path && file.draft !== undefined),
  })
}
