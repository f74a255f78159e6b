import type { OpenProject, ProjectInfo } from '../projects/types.ts'
import type { Autosave } from './autosave.ts'
import { createOpenFiles, type OpenFiles, type SavedFiles } from './open-files.ts'
import { createTypedTexts, type TypedTexts } from './typed-texts.ts'
import type { Session } from './types.ts'

/** What the person types in a project. It survives closing, reloading and switching. */
export interface Typing {
  readonly files: OpenFiles
  /** The texts of fields that the person has not sent or applied. */
  readonly texts: TypedTexts
  close(): void
}

interface SavedTyping {
  readonly files: SavedFiles
  readonly texts: Readonly<Record<string, string>>
}

interface TypedProject extends Pick<OpenProject, 'kept'> {
  readonly info: Pick<ProjectInfo, 'storage'>
}

/** Restores what was typed before and saves what is typed from now on. */
export async function openTyping(project: TypedProject, session: Session, autosave: Autosave): Promise<Typing> {
  const saved = await project.kept.load<SavedTyping>('typed')
  const files = createOpenFiles(session)
  const texts = createTypedTexts(saved?.texts)
  if (saved !== undefined) await files.restore(saved.files)
  const keep = (): SavedTyping => ({ files: files.keep(), texts: texts.all.value })
  autosave.follow('typed', [files.all, files.active, files.notice, texts.all], keep)

  /** A project in memory ends with its tab, so the browser asks first. */
  const asking = (event: Event): void => {
    if (project.info.storage === 'memory' && files.all.value.some(({ draft }) => draft !== undefined))
      event.preventDefault()
  }
  globalThis.addEventListener?.('beforeunload', asking)
  return {
    files,
    texts,
    close() {
      globalThis.removeEventListener?.('beforeunload', asking)
    },
  }
}
