import { useState } from 'preact/hooks'
import { editJson, type JsonNode, type JsonPath } from '../../ui/json-text.ts'
import {
  isEditable,
  listText,
  type PolicyRow,
  type RowChoice,
  type RowList,
  type RowSection,
  rowsOf,
} from '../../ui/policy-rows.ts'
import { readList } from '../../ui/read-list.ts'
import { protectionWords } from '../../ui/words/verdict-words.ts'
import { scrollable } from '../parts/focusable.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Select } from '../parts/select.tsx'

export interface PolicyRowsViewProps {
  readonly text: string
  readonly root: JsonNode
  /** The place of the mistake in the policy. */
  readonly wrong: { readonly path: JsonPath } | undefined
  readonly onEdit: (text: string) => void
}

const sectionWords: Readonly<Record<RowSection, { readonly title: string; readonly none: string }>> = {
  access: { title: 'What the agent may do', none: 'No rules of your own.' },
  commands: { title: 'Commands', none: 'The built-in list of commands.' },
  network: { title: 'Network', none: 'Commands reach no network.' },
  labels: { title: 'Labels', none: 'No content is labelled.' },
}

/** What a new row of a section writes, and where. */
const additions: Readonly<Record<RowSection, { readonly path: JsonPath; create(count: number): unknown }>> = {
  access: { path: ['rules'], create: (count) => ({ name: `rule ${count + 1}`, action: 'ask', paths: ['src/**'] }) },
  commands: { path: ['commands', 'deny'], create: () => 'rm *' },
  network: { path: ['network', 'hosts'], create: () => 'example.org' },
  labels: { path: ['labels', 'sources'], create: () => ({ label: 'confidential', paths: ['private/**'] }) },
}

/** The policy as rows. Each change is one of the text, which stays as it is everywhere else. */
export function PolicyRowsView({ text, root, wrong, onEdit }: PolicyRowsViewProps) {
  const { sections, preset, textOnly } = rowsOf(text, root)
  const edit = (path: JsonPath, value: unknown) => onEdit(editJson(text, path, value))
  const add = (section: RowSection) => {
    const { path, create } = additions[section]
    const list = path.reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key],
      JSON.parse(text),
    )
    const count = Array.isArray(list) ? list.length : 0
    edit([...path, count], create(count))
  }
  return (
    <section class="policy-rows scroll pad" aria-label="Policy as rows" {...scrollable}>
      {(Object.keys(sectionWords) as RowSection[]).map((section) => (
        <section key={section} class="stack" aria-label={sectionWords[section].title}>
          <div class="row">
            <h3 class="grow">{sectionWords[section].title}</h3>
            <button
              type="button"
              class="button quiet"
              aria-label={`Add to ${sectionWords[section].title}`}
              onClick={() => add(section)}
            >
              <Icon name="plus" /> Add
            </button>
          </div>
          {sections[section].length === 0 && <p class="muted small">{sectionWords[section].none}</p>}
          {sections[section].map((row) => (
            <Row
              key={JSON.stringify(row.path)}
              row={row}
              isWrong={wrong !== undefined && isBelow(wrong.path, row.path)}
              onEdit={edit}
            />
          ))}
          {section === 'access' && (
            <div class="policy-row">
              <span class="policy-row-title">Everything else</span>
              <Choice choice={preset} name="Everything else" onEdit={edit} />
            </div>
          )}
        </section>
      ))}
      {textOnly.length > 0 && (
        <p class="muted small">
          Only in the text: <span class="mono">{textOnly.join(', ')}</span>
        </p>
      )}
      <Protections />
    </section>
  )
}

function isBelow(path: JsonPath, row: JsonPath): boolean {
  return row.every((key, at) => path[at] === key)
}

function Row({
  row,
  isWrong,
  onEdit,
}: {
  readonly row: PolicyRow
  readonly isWrong: boolean
  readonly onEdit: (path: JsonPath, value: unknown) => void
}) {
  return (
    <fieldset class="policy-row" aria-label={row.title} data-wrong={isWrong ? '' : undefined}>
      <span class="policy-row-title">{row.title}</span>
      {row.choices.map((choice) => (
        <Choice key={choice.label} choice={choice} name={`${choice.label} of ${row.title}`} onEdit={onEdit} />
      ))}
      {row.lists.map((list) => (
        <List key={list.label} list={list} name={`${list.label} of ${row.title}`} onEdit={onEdit} />
      ))}
      <IconButton icon="trash" label={`Remove ${row.title}`} onClick={() => onEdit(row.path, undefined)} />
      {row.textOnly.length > 0 && (
        <p class="muted small">
          Also, only in the text: <span class="mono">{row.textOnly.join(', ')}</span>
        </p>
      )}
      {isWrong && (
        <p class="bad small">
          <Icon name="blocked" /> The mistake is in this row.
        </p>
      )}
    </fieldset>
  )
}

interface FieldProps {
  /** The accessible name. */
  readonly name: string
  readonly onEdit: (path: JsonPath, value: unknown) => void
}

function Choice({ choice, name, onEdit }: FieldProps & { readonly choice: RowChoice }) {
  return (
    <Select
      label={name}
      value={choice.value}
      options={choice.options}
      onChange={(value) => onEdit(choice.path, choice.options.find((option) => option.value === value)?.json)}
    />
  )
}

/** A list in one field. It is written when the person leaves the field or presses Enter. */
function List({ list, name, onEdit }: FieldProps & { readonly list: RowList }) {
  const [typed, setTyped] = useState<string | undefined>()
  const write = () => {
    const values = typed === undefined ? undefined : readList(typed)
    setTyped(undefined)
    if (values === undefined || listText(values) === listText(list.values)) return
    onEdit(list.path, values.length === 0 ? undefined : values)
  }
  return (
    <input
      class="field mono policy-row-list"
      aria-label={name}
      placeholder={list.label === 'Paths' ? 'everywhere' : list.label}
      spellcheck={false}
      readOnly={!isEditable(list.values)}
      title={isEditable(list.values) ? `${list.label}, with commas between them` : 'Edit this list in the text'}
      value={typed ?? listText(list.values)}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={write}
      onKeyDown={({ key }) => {
        if (key === 'Enter') write()
      }}
    />
  )
}

/** What is protected under every policy. */
function Protections() {
  return (
    <section class="stack" aria-label="Always protected">
      <h3>Always protected</h3>
      <ul class="policy-protections">
        {Object.entries(protectionWords).map(([name, words]) => (
          <li key={name}>
            <Icon name="lock" />
            <span>
              <strong>{words.name}.</strong> <span class="muted">{words.why}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
