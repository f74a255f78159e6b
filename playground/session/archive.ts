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
}

/** The name under which the open conversation is stored. */
export const OPEN_CONVERSATION = 'conversation'
const LIST = 'conversations'
const nameOf = (id: string): string => `conversation-${id}`

export async function openArchive({ kept }: Pick<OpenProject, 'kept'>): Promise<Archive> {
  const all = signal((await kept.load<readonly ConversationInfo[]>(LIST)) ?? [])

  async function setList(list: readonly ConversationInfo[]): Promise<void> {
    all.value = list
    await kept.save(LIST, list)
  }

  async function put(conversation: SavedConversation): Promise<void> {
    const id = crypto.randomUUID()
    // The list names only what is stored.
    await kept.save(nameOf(id), conversation)
    await setList([{ id, title: titleOf(conversation.items) }, ...all.value])
  }

  async function remove(id: string): Promise<void> {
    await setList(all.value.filter((info) => info.id !== id))
    await kept.remove(nameOf(id))
  }

  return {
    all,
    put,
    remove,
    async swap(open, id) {
      const next = await kept.load<SavedConversation>(nameOf(id))
      if (next === undefined) throw new Error('This conversation is no longer stored')
      if (open !== undefined) await put(open)
      await kept.save(OPEN_CONVERSATION, next)
      await remove(id)
      return next
    },
  }
}
