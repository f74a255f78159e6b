import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { FileIcon } from '../../src/elements/parts/file-icon.tsx'
import { Icon, type IconName } from '../../src/elements/parts/icon.tsx'
import { IconButton } from '../../src/elements/parts/icon-button.tsx'
import { Menu, type MenuItem, type MenuPlace } from '../../src/elements/parts/menu.tsx'
import type { ProjectSession } from '../session/project-session.ts'
import { closeStage, closeTerminal, focusTab, openFile, showStage } from './navigation.ts'
import { layout, page, type StageName } from './page-state.ts'
import { goToTerminal } from './shortcuts.ts'

const views: Readonly<Record<Exclude<StageName, 'editor' | 'terminal'>, readonly [label: string, icon: IconName]>> = {
  start: ['Start', 'shield'],
  changes: ['Changes', 'diff'],
  call: ['Call', 'list'],
  policy: ['Policy', 'shield'],
  report: ['Report', 'report'],
  approvals: ['Approval', 'flag'],
  past: ['Earlier files', 'eye'],
}

/** Marks the dragged tab among other things that can be dragged. */
const DRAGGED_TAB = 'application/x-wardspace-tab'

/** The open files and views. Files come first. */
export function StageTabs({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const menu = useSignal<{ readonly path: string; readonly place: MenuPlace } | undefined>(undefined)
  const { path = '', place } = menu.value ?? {}
  return (
    <div class="stage-tabs">
      {layout.value === 'phone' && page.phone.value !== 'agent' && (
        <IconButton
          icon="back"
          label="Back to the list"
          onClick={() => {
            page.isStageUp.value = false
          }}
        />
      )}
      <ul
        class="file-tabs grow"
        aria-label="Open files and views"
        onWheel={(event) => {
          event.currentTarget.scrollLeft += event.deltaY
        }}
      >
        {projectSession !== undefined && (
          <FileTabs
            projectSession={projectSession}
            onMenu={(path, place) => {
              menu.value = { path, place }
            }}
          />
        )}
        {page.tabs.value.map((view) => {
          const [label, icon] = views[view as keyof typeof views] ?? [view, 'file']
          return (
            <StageTab
              key={view}
              label={label}
              title={label}
              isActive={page.stage.value === view}
              icon={<Icon name={icon} />}
              mark={null}
              onShow={() => showStage(view)}
              onClose={() => closeStage(view)}
            />
          )
        })}
      </ul>
      {layout.value !== 'phone' && (
        <button
          type="button"
          class="button quiet terminal-switch"
          aria-pressed={page.terminal.value}
          onClick={() => (page.terminal.value ? closeTerminal() : goToTerminal())}
        >
          <Icon name="terminal" />
          Terminal
        </button>
      )}
      {projectSession !== undefined && place !== undefined && (
        <Menu
          label={`Actions for the tab ${path}`}
          items={tabMenu(projectSession, path)}
          place={place}
          onClose={() => {
            menu.value = undefined
          }}
        />
      )}
    </div>
  )
}

interface FileTabsProps {
  readonly projectSession: ProjectSession
  readonly onMenu: (path: string, place: MenuPlace) => void
}

/** The tabs of the open files. They are reordered by drag, by keys and by their menu. */
function FileTabs({ projectSession, onMenu }: FileTabsProps) {
  const { files } = projectSession
  const open = files.all.value.filter(({ isOpen }) => isOpen)
  return (
    <>
      {open.map(({ path, draft, theirs }) => (
        <StageTab
          key={path}
          label={path.slice(path.lastIndexOf('/') + 1)}
          title={path}
          isActive={page.stage.value === 'editor' && path === files.active.value}
          icon={<FileIcon path={path} />}
          mark={
            theirs !== undefined ? (
              <span class="tag bad">conflict</span>
            ) : draft !== undefined ? (
              <span class="unsaved" role="img" aria-label="not saved" />
            ) : null
          }
          onShow={() => openFile(projectSession, path)}
          onClose={() => files.close(path)}
          attributes={{
            draggable: true,
            onDragStart: ({ dataTransfer }: DragEvent) => dataTransfer?.setData(DRAGGED_TAB, path),
            onDragOver: (event: DragEvent) => {
              if (event.dataTransfer?.types.includes(DRAGGED_TAB)) event.preventDefault()
            },
            onDrop: (event: DragEvent) => {
              event.preventDefault()
              files.reorder(event.dataTransfer?.getData(DRAGGED_TAB) ?? '', { before: path })
            },
            onContextMenu: (event: MouseEvent) => {
              event.preventDefault()
              onMenu(path, { x: event.clientX, y: event.clientY })
            },
          }}
        />
      ))}
    </>
  )
}

function tabMenu({ files }: ProjectSession, path: string): readonly MenuItem[] {
  const open = files.all.value.filter(({ isOpen }) => isOpen)
  const at = open.findIndex((file) => file.path === path)
  const close = (some: typeof open) => {
    for (const file of some) files.close(file.path)
  }
  return [
    { label: 'Close', keys: 'Alt W', onSelect: () => files.close(path) },
    { label: 'Close others', disabled: open.length < 2, onSelect: () => close(open.filter((_, one) => one !== at)) },
    { label: 'Close those to the right', disabled: at === open.length - 1, onSelect: () => close(open.slice(at + 1)) },
    {
      label: 'Move left',
      keys: 'Alt ⇧ PgUp',
      disabled: at === 0,
      startsGroup: true,
      onSelect: () => files.reorder(path, { by: -1 }),
    },
    {
      label: 'Move right',
      keys: 'Alt ⇧ PgDn',
      disabled: at === open.length - 1,
      onSelect: () => files.reorder(path, { by: 1 }),
    },
  ]
}

interface StageTabProps {
  readonly label: string
  readonly title: string
  readonly isActive: boolean
  readonly icon: preact.ComponentChild
  readonly mark: preact.ComponentChild
  readonly onShow: () => void
  readonly onClose: () => void
  readonly attributes?: Readonly<Record<string, unknown>>
}

function StageTab({ label, title, isActive, icon, mark, onShow, onClose, attributes }: StageTabProps) {
  const close = () => {
    onClose()
    focusTab()
  }
  const tab = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isActive) tab.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [isActive])
  return (
    <li ref={tab} class={isActive ? 'active' : ''} {...attributes}>
      <button
        type="button"
        class="name"
        aria-current={isActive}
        title={title}
        onClick={onShow}
        onAuxClick={(event) => {
          if (event.button === 1) close()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Delete') close()
        }}
      >
        {icon}
        {label}
        {mark}
      </button>
      <button type="button" class="close" aria-label={`Close ${title}`} onClick={close}>
        <Icon name="close" size={12} />
      </button>
    </li>
  )
}
