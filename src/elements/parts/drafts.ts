import { useState } from 'preact/hooks'
import type { Drafts } from '../../ui/message-draft.ts'

/** The text of a field that is kept as a draft. */
export function useDraft(drafts: Drafts | undefined, field: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => drafts?.get(field) ?? '')
  const keep = (changed: string) => {
    setText(changed)
    drafts?.set(field, changed)
  }
  return [text, keep]
}
