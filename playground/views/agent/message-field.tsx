import type { Signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { FileIcon } from '../../../src/elements/parts/file-icon.tsx'
import { createFileFinder } from '../../session/file-finder.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { useSuggestions } from '../../ui/suggestions.tsx'

export interface MessageFieldProps {
  readonly project: ProjectSession['project']
  readonly text: Signal<string>
  readonly isDisabled: boolean
  /** The paths that come first as long as nothing is typed after `@`. */
  readonly recent: () => readonly string[]
  readonly onSend: () => void
  readonly onFiles: (files: readonly File[]) => void
  readonly onEscape: () => void
}

/** Files that are suggested at once. */
const MAX_SUGGESTED = 8

/** A name of a file that is being typed, before the cursor. */
const unfinishedMention = /(?:^|[\s(])@([^\s"@]*)$/

/** The field for a message. `@` suggests files of the project; files can be pasted and dropped. */
export function MessageField(props: MessageFieldProps) {
  const { text, isDisabled, onSend, onFiles } = props
  const field = useRef<HTMLTextAreaElement>(null)
  const { fieldProps, onKeyDown, list, followCursor, close } = useMentions(props, field)
  return (
    <>
      <textarea
        ref={field}
        class="field"
        id="composer"
        rows={3}
        aria-label="Message to the agent"
        placeholder="Ask the agent to do something in this project. @ names a file."
        value={text.value}
        disabled={isDisabled}
        {...fieldProps}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
          followCursor()
        }}
        onClick={followCursor}
        onKeyDown={(event) => {
          if (onKeyDown(event)) return
          if (event.key === 'Escape') props.onEscape()
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          onSend()
        }}
        onBlur={close}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])]
          if (files.length === 0) return
          event.preventDefault()
          onFiles(files)
        }}
        onDrop={(event) => {
          const files = [...(event.dataTransfer?.files ?? [])]
          if (files.length === 0) return
          event.preventDefault()
          // The page would open them as a project.
          event.stopPropagation()
          onFiles(files)
        }}
      />
      {list}
    </>
  )
}

/** Suggests files while a name is typed after `@`. */
function useMentions(
  { project, text, recent }: Pick<MessageFieldProps, 'project' | 'text' | 'recent'>,
  field: RefObject<HTMLTextAreaElement | null>,
) {
  const [query, setQuery] = useState<string | undefined>(undefined)
  const finder = useMemo(() => createFileFinder(project.backend, recent), [project])
  const close = () => setQuery(undefined)
  const followCursor = () => {
    const { value = '', selectionEnd = 0 } = field.current ?? {}
    const typed = unfinishedMention.exec(value.slice(0, selectionEnd))?.[1]
    if (typed === query) return
    setQuery(typed)
    if (typed !== undefined) void finder.ask(typed)
  }
  const suggested = useSuggestions({
    label: 'Files of the project',
    isOpen: query !== undefined,
    field,
    suggestions: finder.matches.value.slice(0, MAX_SUGGESTED).map(({ path }) => ({
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
      text.value = element.value
      close()
    },
    onClose: close,
  })
  // A field of several lines is no combobox.
  const { role: _role, 'aria-expanded': _expanded, ...fieldProps } = suggested.fieldProps
  return { ...suggested, fieldProps: { ...fieldProps, 'aria-haspopup': 'listbox' as const }, followCursor, close }
}
