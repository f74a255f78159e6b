import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { MessageDraft } from '../../ui/message-draft.ts'
import { FileIcon } from '../parts/file-icon.tsx'
import { useSuggestions } from '../parts/suggestions.tsx'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { ChatProperties } from '../properties.ts'

export interface MessageFieldProps extends Pick<ChatProperties, 'suggest'> {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly draft: MessageDraft
  readonly isDisabled: boolean
  readonly onSend: () => void
}

/** Files that are suggested at once. */
const MAX_SUGGESTED = 8

/** A name of a file that is being typed, before the cursor. */
const unfinishedMention = /(?:^|[\s(])@([^\s"@]*)$/

/** The field for a message. Enter sends, Shift+Enter begins a line. `@` suggests files; files can be pasted and dropped. */
export function MessageField({ field, draft, isDisabled, suggest, onSend }: MessageFieldProps) {
  const { text, takesFiles } = useSnapshot(draft)
  const { fieldProps, onKeyDown, list, followCursor, close } = useMentions(field, draft, suggest)
  const take = (event: Event, data: DataTransfer | null) => {
    const files = [...(data?.files ?? [])]
    if (files.length === 0 || !takesFiles) return
    event.preventDefault()
    // The page may take files that are dropped elsewhere.
    event.stopPropagation()
    void draft.attach(files)
  }
  return (
    <>
      <textarea
        ref={field}
        class="field"
        id="composer"
        rows={3}
        aria-label="Message to the agent"
        placeholder={`Ask the agent to do something.${suggest === undefined ? '' : ' @ names a file.'}`}
        value={text}
        disabled={isDisabled}
        {...fieldProps}
        onInput={({ currentTarget }) => {
          draft.write(currentTarget.value)
          followCursor()
        }}
        onClick={followCursor}
        onKeyDown={(event) => {
          if (onKeyDown(event)) return
          if (event.key === 'Escape') draft.cancelEdit()
          sendOnEnter(event, onSend)
        }}
        onBlur={close}
        onPaste={(event) => take(event, event.clipboardData)}
        onDrop={(event) => take(event, event.dataTransfer)}
      />
      {list}
    </>
  )
}

/** A message that the person can send and not change. */
export function PromptField({ text, onSend }: { readonly text: string; readonly onSend: () => void }) {
  return (
    <textarea
      class="field"
      id="composer"
      rows={3}
      aria-label="Message to the agent"
      value={text}
      readOnly
      onKeyDown={(event) => sendOnEnter(event, onSend)}
    />
  )
}

function sendOnEnter(event: KeyboardEvent, onSend: () => void): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  onSend()
}

/** Suggests files while a name is typed after `@`. */
function useMentions(
  field: RefObject<HTMLTextAreaElement | null>,
  draft: MessageDraft,
  suggest: ChatProperties['suggest'],
) {
  const [query, setQuery] = useState<string | undefined>(undefined)
  const [paths, setPaths] = useState<readonly string[]>([])
  const close = () => setQuery(undefined)
  useEffect(() => {
    if (query === undefined || suggest === undefined) return
    let isOutdated = false
    void suggest(query).then((found) => !isOutdated && setPaths(found))
    return () => {
      isOutdated = true
    }
  }, [query])
  const followCursor = () => {
    const { value = '', selectionEnd = 0 } = field.current ?? {}
    setQuery(unfinishedMention.exec(value.slice(0, selectionEnd))?.[1])
  }
  const suggested = useSuggestions({
    label: 'Files of the project',
    isOpen: query !== undefined && suggest !== undefined,
    field,
    suggestions: paths.slice(0, MAX_SUGGESTED).map((path) => ({
      value: path,
      label: path,
      content: (
        <>
          <FileIcon path={path} />
          <span class="cut">{path}</span>
        </>
      ),
    })),
    onChoose(path) {
      const element = field.current
      if (element === null || query === undefined) return
      const start = element.selectionEnd - query.length
      const mention = /\s/.test(path) ? `"${path}" ` : `${path} `
      element.setRangeText(mention, start, element.selectionEnd, 'end')
      draft.write(element.value)
      close()
    },
    onClose: close,
  })
  // A field of several lines is no combobox.
  const { role: _role, 'aria-expanded': _expanded, ...fieldProps } = suggested.fieldProps
  return { ...suggested, fieldProps: { ...fieldProps, 'aria-haspopup': 'listbox' as const }, followCursor, close }
}
