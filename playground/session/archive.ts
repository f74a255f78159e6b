import { type ReadonlySignal, signal } from '@preact/signals'
import type { OpenProject } from '../projects/types.ts'
import type { SavedConversation } from './conversation.ts'
import { titleOf } from './turn-words.ts'

/** A conversation that is not open. */
export interface ConversationInfo {
  readonly id: string
  readonly title: string
}

/** The conversations of a project that are not open, the newest first. */
export interface Archive {
  readonly all: ReadonlySignal<readonly ConversationInfo[]>
  put(conversation: SavedConversation): Promise<void>
  /**
   * Puts the open conversation into the archive and returns another one from it, which becomes the open one. A page that is
   * closed meanwhile loses neither.
   */
  swap(open: SavedConversation | undefined, id: string): Promise<SavedConversation>
  remove(id: string): Promise<void>
  /** Saves the conversations for a copy of the project: those that are stored, and those of this page if the browser has removed them. */
  copyTo(copy: OpenProject['kept']): Promise<void>
}

/** The name under which the open conversation is stored. */
export const OPEN_CONVERSATION = 'conversation'
const LIST = 'conversations'
const nameOf = (id: string): string => `conversation-${id}`

export async function openArchive({ kept }: Pick<OpenProject, 'kept'>): Promise<Archive> {
  const all = signal((await kept.load<readonly ConversationInfo[]>(LIST)) ?? [])
  /** The conversations that have been open in this page. */
  const ofPage = new Map<string, SavedConversation>()

  async function setList(list: readonly ConversationInfo[]): Promise<void> {
    all.value = list
    await kept.save(LIST, list)
  }

  async function put(conversation: SavedConversation): Promise<void> {
    const id = crypto.randomUUID()
    ofPage.set(id, conversation)
    // The list names only what is stored.
    await kept.save(nameOf(id), conversation)
    await setList([{ id, title: titleOf(conversation.items) }, ...all.value])
  }

  const load = async (id: string) => ofPage.get(id) ?? (await kept.load<SavedConversation>(nameOf(id)))

  async function copyTo(copy: OpenProject['kept']): Promise<void> {
    const copied: ConversationInfo[] = []
    for (const info of all.value) {
      const conversation = await load(info.id).catch(() => undefined)
      if (conversation === undefined) continue
      await copy.save(nameOf(info.id), conversation)
      copied.push(info)
    }
    await copy.save(LIST, copied)
  }

  async function remove(id: string): Promise<void> {
    ofPage.delete(id)
    await setList(all.value.filter((info) => info.id !== id))
    await kept.remove(nameOf(id))
  }

  return {
    all,
    put,
    remove,
    copyTo,
    async swap(open, id) {
      const next = await load(id)
      if (next === undefined) throw new Error('This conversation is no longer stored')
      if (open !== undefined) await put(open)
      await kept.save(OPEN_CONVERSATION, next)
      await remove(id)
      return next
    },
  }
}
