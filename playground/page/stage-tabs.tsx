import { Icon, type IconName } from '../../src/elements/parts/icon.tsx'
import { IconButton } from '../../src/elements/parts/icon-button.tsx'
import type { ProjectSession } from '../session/project-session.ts'
import { FileIcon } from '../views/files/file-icon.tsx'
import { closeStage, closeTerminal, openFile, showStage, showTerminal } from './navigation.ts'
import { layout, page, type StageName } from './page-state.ts'

const views: Readonly<Record<Exclude<StageName, 'editor' | 'terminal'>, readonly [label: string, icon: IconName]>> = {
  start: ['Start', 'shield'],
  changes: ['Changes', 'diff'],
  call: ['Call', 'list'],
  policy: ['Policy', 'shield'],
  report: ['Report', 'report'],
  approvals: ['Approval', 'flag'],
}

/** The open files and views. Files come first. */
export function StageTabs({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const stage = page.stage.value
  const open = projectSession?.files.all.value.filter(({ isOpen }) => isOpen) ?? []
  const active = projectSession?.files.active.value
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
      <ul class="file-tabs grow" aria-label="Open files and views">
        {open.map(({ path, draft, theirs }) => (
          <StageTab
            key={path}
            label={path.slice(path.lastIndexOf('/') + 1)}
            title={path}
            isActive={stage === 'editor' && path === active}
            icon={<FileIcon path={path} />}
            mark={
              theirs !== undefined ? (
                <span class="tag bad">conflict</span>
              ) : draft !== undefined ? (
                <span class="unsaved" role="img" aria-label="not saved" />
              ) : null
            }
            onShow={() => projectSession !== undefined && openFile(projectSession, path)}
            onClose={() => projectSession?.files.close(path)}
          />
        ))}
        {page.tabs.value.map((view) => {
          const [label, icon] = views[view as keyof typeof views] ?? [view, 'file']
          return (
            <StageTab
              key={view}
              label={label}
              title={label}
              isActive={stage === view}
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
          onClick={() => (page.terminal.value ? closeTerminal() : showTerminal())}
        >
          <Icon name="terminal" />
          Terminal
        </button>
      )}
    </div>
  )
}

interface StageTabProps {
  readonly label: string
  readonly title: string
  readonly isActive: boolean
  readonly icon: preact.ComponentChild
  readonly mark: preact.ComponentChild
  readonly onShow: () => void
  readonly onClose: () => void
}

function StageTab({ label, title, isActive, icon, mark, onShow, onClose }: StageTabProps) {
  return (
    <li class={isActive ? 'active' : ''}>
      <button type="button" class="name" aria-current={isActive} title={title} onClick={onShow}>
        {icon}
        {label}
        {mark}
      </button>
      <button type="button" class="close" aria-label={`Close ${title}`} onClick={onClose}>
        <Icon name="close" size={12} />
      </button>
    </li>
  )
}
