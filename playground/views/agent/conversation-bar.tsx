import { useRef, useState } from 'preact/hooks'
import { copyText } from '../../../src/elements/parts/copy-text.ts'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { Menu, MenuButton } from '../../../src/elements/parts/menu.tsx'
import { download } from '../../projects/download.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { titleOf } from '../../session/turn-words.ts'
import { announce } from '../../ui/announce.tsx'

export interface ConversationBarProps {
  readonly conversation: ProjectSession['conversation']
  /** False while another tab writes the project. */
  readonly isWritable: boolean
}

/** The title of the open conversation, the others of the project, and what can be done with the open one. */
export function ConversationBar({ conversation, isWritable }: ConversationBarProps) {
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const items = conversation.items.value
  const others = conversation.archive.all.value
  const isEmpty = items.length === 0
  if (isEmpty && others.length === 0) return null
  const isFixed = conversation.isWorking.value || !isWritable
  const title = isEmpty ? 'New conversation' : titleOf(items)
  return (
    <div slot="bar" class="bar conversation-bar">
      <button
        ref={button}
        type="button"
        class="button quiet grow"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        title="Conversations of this project"
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name="chat" />
        <span class="cut grow">{title}</span>
        <Icon name="chevron" />
      </button>
      {isOpen && button.current !== null && (
        <Menu
          label="Conversations"
          place={button.current}
          onClose={() => setIsOpen(false)}
          items={[
            { label: title, isChecked: true, onSelect: () => {} },
            ...others.map((info) => ({
              label: info.title,
              isChecked: false,
              disabled: isFixed,
              onSelect: () => void conversation.open(info.id),
            })),
          ]}
        />
      )}
      <button
        type="button"
        class="button"
        title="New conversation"
        disabled={isFixed || isEmpty}
        onClick={() => conversation.clear()}
      >
        New
      </button>
      <ConversationMenu conversation={conversation} isEmpty={isEmpty} isFixed={isFixed} />
    </div>
  )
}

function ConversationMenu({
  conversation,
  isEmpty,
  isFixed,
}: Pick<ConversationBarProps, 'conversation'> & { readonly isEmpty: boolean; readonly isFixed: boolean }) {
  const textOf = async () =>
    (await import('../../session/conversation-text.ts')).conversationAsMarkdown(conversation.items.peek())
  const copy = async () => {
    announce(await copyText(await textOf(), 'The conversation is copied'))
  }
  return (
    <MenuButton
      icon="dots"
      label="More for this conversation"
      items={[
        { label: 'Copy as Markdown', disabled: isEmpty, onSelect: () => void copy() },
        {
          label: 'Download as Markdown',
          disabled: isEmpty,
          onSelect: () => void textOf().then((text) => download('conversation.md', text)),
        },
        {
          label: 'Download as JSON',
          disabled: isEmpty,
          onSelect: () => download('conversation.json', `${JSON.stringify(conversation.save(), null, 2)}\n`),
        },
        {
          label: 'Delete this conversation',
          icon: 'trash',
          isDanger: true,
          disabled: isEmpty || isFixed,
          startsGroup: true,
          onSelect: () => {
            conversation.remove()
            announce('The conversation is deleted')
          },
        },
      ]}
    />
  )
}
