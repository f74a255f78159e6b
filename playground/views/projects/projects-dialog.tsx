import { withoutEndSlashes } from '../../../src/util/slashes.ts'
import './projects.css'
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { MenuButton } from '../../../src/elements/parts/menu.tsx'
import { Select } from '../../../src/elements/parts/select.tsx'
import { githubAddress } from '../../projects/github-address.ts'
import { importFromInput } from '../../projects/import-folder.ts'
import { samples } from '../../projects/samples.ts'
import type { ProjectInfo, ProjectOptions, ProjectSource, Storage } from '../../projects/types.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { ExportPanel, type ExportPanelProps } from './export-panel.tsx'

const storageNames: Readonly<Record<Storage, string>> = {
  memory: 'in this tab',
  opfs: 'in this browser',
  directory: 'in a folder of yours',
}

const storages = [
  { value: 'opfs', label: 'in this browser (kept)' },
  { value: 'memory', label: 'in this tab (lost when it is closed)' },
] as const

/** The projects of the browser. */
export interface ProjectList {
  readonly all: ReadonlySignal<readonly ProjectInfo[]>
  /** Where new projects are stored unless the person chooses otherwise. */
  readonly defaultStorage: Storage
  refresh(): Promise<void>
  open(id: string): Promise<void>
  create(source: ProjectSource, options: ProjectOptions): Promise<void>
  rename(id: string, name: string): Promise<void>
  /** Copies a project, and opens the copy. */
  duplicate(info: ProjectInfo): Promise<void>
  remove(id: string): Promise<void>
}

export interface ProjectsDialogProps extends Pick<ExportPanelProps, 'showProgress'> {
  readonly projects: ProjectList
  /** The open project. */
  readonly projectSession: ProjectSession | undefined
  readonly onClose: () => void
}

/** Lists the projects, and creates, imports and exports them. */
export function ProjectsDialog({ projects, projectSession, showProgress, onClose }: ProjectsDialogProps) {
  const { defaultStorage } = projects
  const storage = useSignal<'memory' | 'opfs'>(defaultStorage === 'opfs' ? 'opfs' : 'memory')
  useEffect(() => void projects.refresh(), [])
  const make = (source: ProjectSource, name: string) => {
    onClose()
    void projects.create(source, { name, storage: storage.value })
  }
  return (
    <Dialog title="Projects" onClose={onClose}>
      <div class="stack">
        <section class="stack" aria-label="Your projects">
          {projects.all.value.length === 0 && <p class="muted">There are no projects yet.</p>}
          <ul class="projects">
            {projects.all.value.map((info) => (
              <ProjectRow
                key={info.id}
                info={info}
                isOpen={info.id === projectSession?.project.info.id}
                projects={projects}
                onClose={onClose}
              />
            ))}
          </ul>
        </section>
        <section class="stack">
          <div class="row wrap">
            <h3 class="new-project">New project</h3>
            <span class="muted">Store files</span>
            <Select
              label="Store files"
              value={storage.value}
              options={defaultStorage === 'opfs' ? storages : storages.slice(1)}
              onChange={(chosen) => {
                storage.value = chosen
              }}
            />
          </div>
          <ul class="samples">
            {samples.map(({ id, title, summary }) => (
              <li key={id}>
                <button type="button" class="button start" onClick={() => make({ kind: 'sample', id }, title)}>
                  <strong>{title}</strong>
                  <span class="muted">{summary}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
        <Import make={make} />
        {projectSession !== undefined && (
          <ExportPanel
            projectSession={projectSession}
            name={projects.all.value.find(({ id }) => id === projectSession.project.info.id)?.name}
            showProgress={showProgress}
          />
        )}
      </div>
    </Dialog>
  )
}

interface ProjectRowProps {
  readonly info: ProjectInfo
  readonly isOpen: boolean
  readonly projects: ProjectList
  readonly onClose: () => void
}

/** A project of the list, with its menu. */
function ProjectRow({ info, isOpen, projects, onClose }: ProjectRowProps) {
  const doing = useSignal<'rename' | 'remove' | undefined>(undefined)
  const end = () => {
    doing.value = undefined
  }
  if (doing.value === 'remove') {
    const onRemove = () => {
      if (isOpen) onClose()
      void projects.remove(info.id)
    }
    return <RemoveQuestion info={info} onRemove={onRemove} onKeep={end} />
  }
  if (doing.value === 'rename') {
    const onName = (name: string) => {
      end()
      void projects.rename(info.id, name)
    }
    return <RenameForm name={info.name} onName={onName} onEnd={end} />
  }
  return (
    <li class="row">
      <button
        type="button"
        class="button quiet grow start"
        aria-current={isOpen}
        onClick={() => {
          onClose()
          void projects.open(info.id)
        }}
      >
        <strong class="cut">{info.name}</strong>
        <span class="muted">{storageNames[info.storage]}</span>
      </button>
      {isOpen && <span class="tag good">open</span>}
      <MenuButton
        icon="dots"
        label={`Actions for ${info.name}`}
        items={[
          {
            label: 'Rename…',
            onSelect: () => {
              doing.value = 'rename'
            },
          },
          {
            label: 'Duplicate',
            onSelect: () => {
              onClose()
              void projects.duplicate(info)
            },
          },
          {
            label: 'Remove…',
            isDanger: true,
            startsGroup: true,
            onSelect: () => {
              doing.value = 'remove'
            },
          },
        ]}
      />
    </li>
  )
}

interface RenameFormProps {
  readonly name: string
  readonly onName: (name: string) => void
  readonly onEnd: () => void
}

function RenameForm({ name, onName, onEnd }: RenameFormProps) {
  const field = useRef<HTMLInputElement>(null)
  const text = useSignal(name)
  useEffect(() => field.current?.select(), [])
  return (
    <li>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (text.value.trim() !== '') onName(text.value.trim())
        }}
      >
        <input
          ref={field}
          class="field grow"
          aria-label={`New name of ${name}`}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            // The dialog stays open.
            event.preventDefault()
            onEnd()
          }}
        />
        <button type="submit" class="button" disabled={text.value.trim() === ''}>
          Rename
        </button>
        <button type="button" class="button quiet" onClick={onEnd}>
          Cancel
        </button>
      </form>
    </li>
  )
}

interface RemoveQuestionProps {
  readonly info: ProjectInfo
  readonly onRemove: () => void
  readonly onKeep: () => void
}

function RemoveQuestion({ info: { name, storage }, onRemove, onKeep }: RemoveQuestionProps) {
  const keep = useRef<HTMLButtonElement>(null)
  useEffect(() => keep.current?.focus(), [])
  const what =
    storage === 'directory'
      ? 'Its conversation and history go; the files in your folder stay.'
      : 'Its files, conversation and history go, and cannot be brought back.'
  return (
    <li>
      <div class="row wrap" role="alert">
        <span class="grow">
          Remove “{name}”? {what}
        </span>
        <button type="button" class="button danger" onClick={onRemove}>
          Remove “{name}”
        </button>
        <button ref={keep} type="button" class="button" onClick={onKeep}>
          Keep
        </button>
      </div>
    </li>
  )
}

/** Selects folders with all their files. */
const wholeFolder = { webkitdirectory: true }

type PickFolder = (options: { readonly mode: 'readwrite' }) => Promise<FileSystemDirectoryHandle>
const pickFolder = (globalThis as { showDirectoryPicker?: PickFolder }).showDirectoryPicker?.bind(globalThis)

function Import({ make }: { readonly make: (source: ProjectSource, name: string) => void }) {
  const canPick = pickFolder !== undefined
  const importFiles = ({ files }: HTMLInputElement) => {
    const imported = importFromInput([...(files ?? [])])
    if (imported !== undefined) make(imported.source, imported.name)
  }
  return (
    <section class="stack">
      <h3>Import</h3>
      <div class="row wrap">
        <label class="button" for="import-zip">
          From a zip…
        </label>
        <input
          id="import-zip"
          class="visually-hidden"
          type="file"
          accept=".zip,application/zip"
          onChange={({ currentTarget }) => {
            importFiles(currentTarget)
          }}
        />
        <label class="button" for="import-folder">
          From a folder…
        </label>
        <input
          id="import-folder"
          class="visually-hidden"
          type="file"
          {...wholeFolder}
          onChange={({ currentTarget }) => {
            importFiles(currentTarget)
          }}
        />
        <button
          type="button"
          class="button"
          disabled={!canPick}
          title={canPick ? undefined : 'This browser cannot give access to a folder'}
          onClick={async () => {
            try {
              const handle = await pickFolder?.({ mode: 'readwrite' })
              if (handle !== undefined) make({ kind: 'directory', handle }, handle.name)
            } catch {
              // The person cancelled the picker.
            }
          }}
        >
          Work in a folder in place…
        </button>
        <button type="button" class="button" onClick={() => make({ kind: 'empty' }, 'Empty project')}>
          Empty
        </button>
        <span class="muted">or drop a zip, files or a folder onto the page.</span>
      </div>
      <CloneForm make={make} />
    </section>
  )
}

function CloneForm({ make }: { readonly make: (source: ProjectSource, name: string) => void }) {
  const url = useSignal('')
  const proxy = useSignal('')
  const token = useSignal('')
  const github = proxy.value.trim() === '' ? githubAddress(url.value) : undefined
  const onSubmit = (event: Event) => {
    event.preventDefault()
    const address = url.value.trim()
    const corsProxy = proxy.value.trim()
    if (github !== undefined) {
      make({ kind: 'github', ...github, ...(token.value === '' ? {} : { token: token.value }) }, github.repo)
    } else make({ kind: 'git', url: address, ...(corsProxy === '' ? {} : { corsProxy }) }, nameOf(address))
  }
  return (
    <form class="form" onSubmit={onSubmit}>
      <label for="git-url">GitHub or git</label>
      <div class="row">
        <input
          id="git-url"
          class="field mono grow"
          required
          autocomplete="off"
          spellcheck={false}
          placeholder="owner/repository, or https://…/project.git"
          value={url.value}
          onInput={({ currentTarget }) => {
            url.value = currentTarget.value
          }}
        />
        <button type="submit" class="button">
          {github === undefined ? 'Clone' : 'Import'}
        </button>
      </div>
      {github !== undefined && (
        <TextField label="Token" id="github-token" isSecret text={token} hint="none; only for private repositories" />
      )}
      {url.value.trim() !== '' && (
        <TextField
          label="CORS proxy"
          id="git-proxy"
          text={proxy}
          hint={github === undefined ? 'none; most servers need one for a page' : 'none; only to clone the history too'}
        />
      )}
    </form>
  )
}

interface TextFieldProps {
  readonly label: string
  readonly id: string
  readonly isSecret?: boolean
  readonly text: Signal<string>
  readonly hint: string
}

function TextField({ label, id, isSecret = false, text, hint }: TextFieldProps) {
  const attributes = {
    id,
    class: 'field mono',
    autocomplete: 'off',
    placeholder: hint,
    value: text.value,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      text.value = currentTarget.value
    },
  } as const
  return (
    <>
      <label for={id}>{label}</label>
      {isSecret ? <input type="password" {...attributes} /> : <input type="url" {...attributes} />}
    </>
  )
}

function nameOf(url: string): string {
  return (
    withoutEndSlashes(url.trim())
      .replace(/\.git$/, '')
      .split('/')
      .at(-1) || 'Clone'
  )
}
