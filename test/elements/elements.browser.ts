import axe from 'axe-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { commands, type Locator, page, userEvent } from 'vitest/browser'
import { callbackSink } from '../../dist/audit/index.js'
import { memory } from '../../dist/backends/memory/index.js'
import type { WardspaceElements } from '../../dist/elements/index.js'
import '../../dist/elements/index.js'
import { createWorkspace } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import {
  createApprovals,
  createChanges,
  createConversation,
  createEditor,
  createFiles,
  createMessageDraft,
  createPolicyEditor,
  createTerminal,
  createTimeline,
  readAttachment,
  trackCalls,
} from '../../dist/ui/index.js'
import { isLong } from '../counts.ts'

afterEach(() => document.body.replaceChildren())

/** Selects the whole text of an editor by its own keys, which `fill` may do before the editor notices, and types `keys`. */
async function replaceText(field: Locator, keys: string): Promise<void> {
  await field.click()
  await userEvent.keyboard(`{Control>}a{/Control}${keys}`)
}

/** Adds an element with its properties to the page. */
function show<Name extends keyof WardspaceElements>(
  name: Name,
  properties: Omit<WardspaceElements[Name], keyof HTMLElement>,
): HTMLElement {
  const element = Object.assign(document.createElement(name as string), properties)
  element.style.height = '600px'
  document.body.append(element)
  return element
}

/** The violations that axe finds in the page, shadow roots included. */
async function violations(): Promise<string[]> {
  // What has just appeared, or become enabled, changes its colours for a moment.
  const roots = [document, ...[...document.body.children].flatMap(({ shadowRoot }) => shadowRoot ?? [])]
  const motions = roots.flatMap((root) => root.getAnimations())
  const ending = motions.filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
  await Promise.allSettled(ending.map(({ finished }) => finished))
  const { violations: found } = await axe.run(document.body, { rules: { region: { enabled: false } } })
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`)
}

async function openRun() {
  const approvals = createApprovals()
  const timeline = createTimeline()
  const backend = memory({ 'src/price.js': 'export const price = 1\n', 'old.txt': 'old\n', '.env': 'TOKEN=secret\n' })
  const workspace = await createWorkspace({
    backend,
    policy: 'supervised',
    shell: bash(),
    audit: callbackSink(timeline.take),
  })
  return { approvals, timeline, workspace, run: trackCalls(workspace, { timeline, approvals }) }
}

describe('wardspace-approvals', () => {
  it('shows what a call would change, and carries it out when the person approves by key', async () => {
    const { approvals, run } = await openRun()
    show('wardspace-approvals', { controller: approvals, saying: 'The price is wrong' })
    const call = run.call('edit_file', { path: 'src/price.js', oldText: 'price = 1', newText: 'price = 2' })
    const card = page.getByRole('article', { name: 'Approval of edit_file' })
    // A key that comes too early answers nothing. From outside of the page it could come too late.
    while (card.query() === null) await new Promise(requestAnimationFrame)
    card.element().dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, composed: true }))
    expect(approvals.snapshot.pending).toHaveLength(1)
    await expect.element(card).toHaveTextContent('+export const price = 2')
    await expect.element(card).toHaveTextContent('The agent says: The price is wrong')
    expect(await violations()).toEqual([])
    await card.element().focus()
    await expect
      .poll(() => page.getByRole('button', { name: 'Approve', exact: true }).element().ariaDisabled)
      .toBe('false')
    await userEvent.keyboard('a')
    expect(await call).toMatchObject({ ok: true })
    await expect.element(card).not.toBeInTheDocument()
  })

  it('shows the directory of a command, and escapes what would hide or reverse a part of a text', async () => {
    const { approvals, run } = await openRun()
    show('wardspace-approvals', { controller: approvals })
    const calls = [
      run.call('run_command', { command: 'rm -rf *', cwd: 'src' }),
      run.call('write_file', { path: 'new.js', content: 'if (a\u202e b)\u200b\n', reason: 'a\u2066b' }),
    ]
    await expect.element(page.getByRole('article', { name: 'Approval of run_command' })).toHaveTextContent('In: src')
    const card = page.getByRole('article', { name: 'Approval of write_file' })
    await expect.element(card).toHaveTextContent('+if (a\\u{202e} b)\\u{200b}')
    await expect.element(card).toHaveTextContent('Reason: a\\u{2066}b')
    for (const { answer } of approvals.snapshot.pending) answer({ deny: 'no' })
    await Promise.all(calls)
  })

  it('takes the paths of a pattern as a policy does, and says why it does not', async () => {
    const { approvals, run } = await openRun()
    show('wardspace-approvals', { controller: approvals })
    const call = run.call('edit_file', { path: 'src/price.js', oldText: 'price = 1', newText: 'price = 2' })
    await page.getByRole('button', { name: 'Approve the rest like this…' }).click()
    const paths = page.getByLabelText('Paths to approve')
    await paths.fill('/src/*')
    await expect.element(page.getByText('it is absolute')).toBeVisible()
    await paths.fill('lib/*, src/*')
    await page.getByRole('button', { name: 'Approve these' }).click()
    expect(await call).toMatchObject({ ok: true })
  })

  it('refuses with the typed reason, which a draft keeps while the element is away', async () => {
    const { approvals, run } = await openRun()
    const texts = new Map<string, string>()
    const drafts = {
      get: (field: string) => texts.get(field) ?? '',
      set: (field: string, text: string) => void texts.set(field, text),
    }
    const element = show('wardspace-approvals', { controller: approvals, drafts })
    const call = run.call('delete_file', { path: 'old.txt' })
    await page.getByRole('button', { name: 'Refuse…' }).click()
    await page.getByLabelText('Reason for the agent').fill('still needed')
    expect(await violations()).toEqual([])
    element.remove()
    document.body.append(element)
    await expect.element(page.getByLabelText('Reason for the agent')).toHaveValue('still needed')
    await page.getByRole('button', { name: 'Refuse', exact: true }).click()
    expect(await call).toMatchObject({ ok: false, code: 'APPROVAL_DENIED' })
  })

  it('says what will be here, and takes colours of the page', async () => {
    const { approvals } = await openRun()
    const element = document.createElement('div')
    element.innerHTML = '<wardspace-approvals style="--wardspace-panel: rgb(1, 2, 3)"></wardspace-approvals>'
    document.body.append(element)
    const [shown] = element.children as unknown as [WardspaceElements['wardspace-approvals']]
    shown.controller = approvals
    await expect.element(page.getByText('What the agent asks you appears here.')).toBeVisible()
    expect(getComputedStyle(shown).backgroundColor).toBe('rgb(1, 2, 3)')
    shown.removeAttribute('style')
    const colours = ['light', 'dark'].map((scheme) => {
      shown.style.colorScheme = scheme
      return getComputedStyle(shown).backgroundColor
    })
    expect(colours).toEqual(['rgb(251, 252, 253)', 'rgb(20, 24, 30)'])
  })
})

describe('wardspace-timeline', () => {
  it('lists calls with their outcome, and opens one by key', async () => {
    const { timeline, run } = await openRun()
    const element = show('wardspace-timeline', { controller: timeline })
    await run.call('read_file', { path: '.env' })
    // A call that fails is not one that is blocked.
    await run.call('read_file', { path: 'missing.js' })
    await expect.element(page.getByRole('option', { name: /read_file.*blocked.*\.env/ })).toBeVisible()
    expect(await violations()).toEqual([])
    const opened = new Promise((resolve) => {
      element.addEventListener('wardspace-open-call', ({ detail }) => resolve(detail), { once: true })
    })
    await page.getByRole('listbox', { name: 'Timeline of calls' }).element().focus()
    await userEvent.keyboard('{End}{Enter}')
    expect(await opened).toEqual({ key: '2' })
    await page.getByRole('button', { name: 'Blocked only' }).click()
    await expect.element(page.getByText('1 call', { exact: true })).toBeVisible()
  })
})

describe('wardspace-files and wardspace-editor', () => {
  it('open, edit and save a file by keys, and show a protected one as such', async () => {
    const { workspace } = await openRun()
    const files = createFiles({ workspace })
    const editor = createEditor({ workspace })
    const tree = show('wardspace-files', { controller: files })
    tree.addEventListener('wardspace-open-file', ({ detail }) => void editor.open(detail.path))
    show('wardspace-editor', { controller: editor })
    await expect.element(page.getByRole('treeitem', { name: /\.env.*protected/ })).toBeVisible()
    await page.getByRole('tree', { name: 'Files' }).element().focus()
    await userEvent.keyboard('{ArrowRight}')
    await expect.element(page.getByRole('treeitem', { name: 'price.js' })).toBeVisible()
    await userEvent.keyboard('{ArrowRight}{Enter}')
    const text = page.getByRole('textbox', { name: 'Text of src/price.js' })
    await expect.element(text).toHaveTextContent('export const price = 1')
    await replaceText(text, 'export const price = 3{Enter}')
    expect(await violations()).toEqual([])
    await userEvent.keyboard('{Control>}s{/Control}')
    await expect.poll(async () => (await workspace.call('read_file', { path: 'src/price.js' })).ok).toBe(true)
    await expect.poll(() => editor.snapshot.isChanged).toBe(false)
    expect(await workspace.call('read_file', { path: 'src/price.js' })).toMatchObject({
      content: 'export const price = 3\n',
    })
    const save = page.getByRole('button', { name: 'Save' })
    editor.edit('mine')
    await expect.element(save).toBeEnabled()
    const mixed = { path: 'src/price.js', content: 'a\r\nb\n' }
    await workspace.call('write_file', mixed, { approve: () => 'allow' as const })
    await expect.poll(() => editor.snapshot.conflict).toBeDefined()
    editor.resolve('own')
    await expect.element(page.getByText('read only')).toBeVisible()
    await expect.element(save).toBeDisabled()
    await editor.open('.env')
    await expect.element(page.getByText(/Blocked: \.env/).first()).toBeVisible()
    expect(document.body.innerHTML + editor.snapshot.text).not.toContain('TOKEN=secret')
  })
})

describe('wardspace-editor', () => {
  it.runIf(isLong)(
    'marks lines, shows a change and both texts of a conflict, and saves the text of the person',
    async () => {
      const { workspace } = await openRun()
      const editor = createEditor({ workspace })
      const element = show('wardspace-editor', { controller: editor, lines: [1, 1] })
      element.innerHTML = '<p slot="empty">No file</p><p slot="text">A picture</p>'
      await expect.element(page.getByText('No file')).toBeVisible()
      await editor.open('src/price.js')
      const all = (selector: string) => [...(element.shadowRoot?.querySelectorAll(selector) ?? [])]
      const textsOf = (selector: string) => all(selector).map(({ textContent }) => textContent)
      await expect.poll(() => textsOf('.cm-followed')).toEqual(['export const price = 1'])
      Object.assign(element, { change: { before: 'price = 0\n', after: 'price = 1\n' } })
      await expect.poll(() => textsOf('.cm-deletedChunk, .cm-changedLine')).toEqual(['price = 0', 'price = 1'])
      expect(await violations()).toEqual([])
      Object.assign(element, { change: undefined, ownText: true })
      await expect.element(page.getByText('A picture')).toBeVisible()
      Object.assign(element, { ownText: false })
      await replaceText(page.getByRole('textbox', { name: 'Text of src/price.js' }), 'mine')
      const theirs = { path: 'src/price.js', oldText: 'price = 1', newText: 'theirs = 1' }
      await workspace.call('edit_file', theirs, { approve: () => 'allow' as const })
      const own = page.getByRole('textbox', { name: 'Your text: src/price.js' })
      await expect.element(own).toHaveTextContent('mine')
      await expect.element(page.getByLabelText('Current file: src/price.js')).toHaveTextContent('theirs = 1')
      expect(await violations()).toEqual([])
      await replaceText(own, 'mine, with theirs')
      await page.getByRole('button', { name: 'Save my text' }).click()
      await expect.poll(() => editor.snapshot).toMatchObject({ conflict: undefined, isChanged: false })
      expect(await workspace.call('read_file', { path: 'src/price.js' })).toMatchObject({
        content: 'mine, with theirs',
      })
    },
  )
})

describe('wardspace-files', () => {
  it('creates, renames and deletes by keys and by its menu, and takes back the last action', async () => {
    const { workspace } = await openRun()
    const element = show('wardspace-files', { controller: createFiles({ workspace }) })
    const focused = () => element.shadowRoot?.activeElement?.getAttribute('aria-label')
    const name = (text: string) => userEvent.keyboard(`${text}{Enter}`)
    await page.getByRole('button', { name: 'New file' }).click()
    await expect.poll(focused).toBe('Name of the new file')
    await name('made.txt')
    const made = page.getByRole('treeitem', { name: 'made.txt' })
    await expect.element(made).toHaveAttribute('aria-selected', 'true')
    expect(focused()).toBe('Files')
    await userEvent.keyboard('{F2}')
    await expect.poll(focused).toBe('New name of made.txt')
    await name('{Control>}a{/Control}renamed.txt')
    await expect.element(page.getByRole('treeitem', { name: 'renamed.txt' })).toBeVisible()
    await userEvent.keyboard('{Shift>}{F10}{/Shift}')
    await expect.poll(focused).toBe('Open')
    expect(await violations()).toEqual([])
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await expect.element(page.getByText('Deleted “renamed.txt”')).toBeVisible()
    const undo = page.getByRole('button', { name: 'Undo' })
    Object.assign(element, { disabled: true })
    await expect.element(undo).toBeDisabled()
    Object.assign(element, { disabled: false })
    await undo.click()
    await expect.element(page.getByRole('treeitem', { name: 'renamed.txt' })).toBeVisible()
    expect(await violations()).toEqual([])
  })
})

describe('wardspace-diff', () => {
  it('shows the changed files and the difference of the chosen one', async () => {
    const { workspace } = await openRun()
    const changes = createChanges({ workspace, onComments: () => {} })
    show('wardspace-diff', { controller: changes })
    await expect.element(page.getByText('Nothing has changed since the files were opened.')).toBeVisible()
    const options = { approve: () => 'allow' as const }
    await workspace.call('write_file', { path: 'new.txt', content: 'new\n' }, options)
    await workspace.call('edit_file', { path: 'src/price.js', oldText: '1', newText: '2' }, options)
    await page.getByRole('treeitem', { name: /price\.js.*changed/ }).click()
    const change = page.getByRole('region', { name: 'Change 1 of 1, Line 1' })
    await expect.element(change).toHaveTextContent('added: export const price = 2')
    expect(await violations()).toEqual([])
    // A comment that is being written stays when its lines change and move.
    await change.getByRole('button', { name: 'Comment' }).click()
    await userEvent.keyboard('Why')
    await workspace.call('edit_file', { path: 'src/price.js', oldText: '2', newText: '3' }, options)
    await expect.element(change).toHaveTextContent('added: export const price = 3')
    await userEvent.keyboard(' so?')
    const field = change.getByRole('textbox', { name: 'Comment for the agent' })
    await expect.element(field).toHaveValue('Why so?')
    await change.getByRole('button', { name: 'Add comment' }).click()
    expect(changes.snapshot.comments).toMatchObject([
      { from: 1, to: 1, quote: 'export const price = 3\n', text: 'Why so?' },
    ])
    await change.getByRole('button', { name: 'Revert' }).click()
    await expect.element(page.getByText('The change is taken back')).toBeVisible()
    expect(await workspace.call('read_file', { path: 'src/price.js' })).toMatchObject({
      content: 'export const price = 1\n',
    })
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.element(page.getByRole('treeitem', { name: /price\.js.*changed/ })).toBeVisible()
    expect(await violations()).toEqual([])
  })
})

describe('wardspace-chat', () => {
  it('sends by key, shows calls and Markdown without HTML, queues, and stops', async () => {
    const { timeline, run } = await openRun()
    const controller = createConversation({
      timeline,
      async respond({ items, say, signal }) {
        await run.call('read_file', { path: '.env' })
        say('It is **hidden** <img src=x onerror=alert(1)>')
        if (items.at(-1)?.kind === 'person' && items.length > 3)
          await new Promise((end) => signal.addEventListener('abort', end))
      },
    })
    show('wardspace-chat', { controller, timeline })
    const field = page.getByRole('textbox', { name: 'Message to the agent' })
    await field.fill('Read the secret')
    await userEvent.keyboard('{Enter}')
    await expect.element(page.getByText('hidden', { exact: true })).toBeVisible()
    await expect.element(page.getByText('Blocked: .env is an environment file', { exact: false }).first()).toBeVisible()
    expect(document.querySelector('wardspace-chat')?.shadowRoot?.querySelector('img')).toBeNull()
    await field.fill('Again')
    await userEvent.keyboard('{Enter}')
    await field.fill('And again')
    await userEvent.keyboard('{Enter}')
    await expect.element(page.getByRole('list', { name: 'Messages that wait' }).getByText('And again')).toBeVisible()
    expect(await violations()).toEqual([])
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect.poll(() => controller.snapshot).toMatchObject({ isWorking: false, queue: [] })
  })

  it.runIf(isLong)(
    'attaches a file, suggests names after @, sends an earlier message again, and shows what a page puts into its slots',
    async () => {
      const controller = createConversation({
        respond: async ({ attachments, say }) =>
          say(attachments.map(({ kind, name }) => `${kind} ${name}`).join() || 'nothing'),
      })
      const draft = createMessageDraft(controller, { attach: readAttachment })
      const suggest = async (typed: string) => ['src/price.js', 'old file.txt'].filter((path) => path.includes(typed))
      const element = show('wardspace-chat', { controller, draft, suggest })
      element.innerHTML =
        '<p slot="empty">Say something</p><button slot="actions">Step</button><p slot="end">The end</p>'
      await expect.element(page.getByText('Say something')).toBeVisible()
      const field = page.getByRole('textbox', { name: 'Message to the agent' })
      await field.fill('')
      await userEvent.keyboard('Read @old')
      await expect.element(page.getByRole('option', { name: 'old file.txt' })).toBeVisible()
      await userEvent.keyboard('{Enter}')
      await expect.element(field).toHaveValue('Read @"old file.txt" ')
      await draft.attach([new File(['a'], 'notes.txt'), new File(['\0'], 'data.bin')])
      await expect
        .element(page.getByText('Cannot attach “data.bin”: it is no text, no image and no PDF document.'))
        .toBeVisible()
      expect(await violations()).toEqual([])
      await userEvent.keyboard('{Enter}')
      await expect.element(page.getByText('text notes.txt')).toBeVisible()
      await expect.element(page.getByText('Say something')).not.toBeVisible()
      await expect.element(page.getByText('The end')).toBeVisible()
      await page.getByRole('button', { name: 'Edit and send again' }).click()
      await expect.poll(() => element.shadowRoot?.activeElement?.id).toBe('composer')
      expect(await violations()).toEqual([])
      await field.fill('Again')
      await userEvent.keyboard('{Enter}')
      await expect.poll(() => controller.snapshot.items).toMatchObject([{ text: 'Again' }, { text: 'nothing' }])
    },
  )

  it('sends a prompt as it is, and says that the agent waits for an approval', async () => {
    const { approvals, run, timeline } = await openRun()
    const call = () => run.call('delete_file', { path: 'old.txt' })
    const controller = createConversation({ timeline, respond: async () => void (await call()) })
    show('wardspace-chat', { controller, timeline, approvals, prompt: 'Delete it' })
    const field = page.getByRole('textbox', { name: 'Message to the agent' })
    await expect.element(field).toHaveAttribute('readonly')
    await page.getByRole('button', { name: 'Run' }).click()
    await expect.element(page.getByText('The agent waits for your approval.')).toBeVisible()
    expect(await violations()).toEqual([])
    approvals.snapshot.pending[0]?.answer({ allow: 'once', by: 'person' })
    await expect.poll(() => controller.snapshot.isWorking).toBe(false)
    expect(controller.snapshot.items[0]).toMatchObject({ kind: 'person', text: 'Delete it' })
  })
})

describe('wardspace-policy', () => {
  it('applies a changed policy, and nothing that is not one', async () => {
    const applied: unknown[] = []
    const controller = createPolicyEditor({ policy: 'supervised', onApply: (policy) => void applied.push(policy) })
    show('wardspace-policy', { controller })
    const text = page.getByRole('textbox', { name: 'Policy as JSON' })
    const apply = page.getByRole('button', { name: 'Apply' })
    await expect.element(apply).toBeDisabled()
    await text.fill('{ "preset": "readOnly", "deniedPath": ["src"] }')
    await expect.element(page.getByText(/deniedPath/).first()).toBeVisible()
    await expect.element(apply).toBeDisabled()
    expect(await violations()).toEqual([])
    await controller.apply()
    await text.fill('{ "preset": "readOnly", "deniedPaths": ["src"] }')
    await apply.click()
    await expect.poll(() => applied).toEqual([{ preset: 'readOnly', deniedPaths: ['src'] }])
    await expect.element(apply).toBeDisabled()
  })

  it.runIf(isLong)(
    'shows rows, the effect on the files and a verdict, and writes what a row chooses into the text',
    async () => {
      const backend = memory({ 'a.txt': 'a', 'src/b.js': 'b', '.env': 'A=1' })
      const files = { ...backend, close: async () => {} }
      const controller = createPolicyEditor({
        policy: 'autonomous',
        onApply: () => {},
        openTrial: (policy) => createWorkspace({ backend: files, policy, audit: callbackSink(() => {}) }),
        paths: async function* () {
          yield* ['a.txt', 'src/b.js', '.env']
        },
      })
      show('wardspace-policy', { controller })
      await expect.element(page.getByText('Blocked: .env: secret files are protected')).toBeVisible()
      controller.edit('{ "preset": "autonomous", "deniedPaths": ["src"] }')
      await expect.element(page.getByText('1 file becomes hidden')).toBeVisible()
      expect(await violations()).toEqual([])
      await page.getByRole('combobox', { name: 'Everything else' }).click()
      await page.getByRole('option', { name: 'Read, and change nothing' }).click()
      await expect.poll(() => controller.snapshot.text).toBe('{ "preset": "readOnly", "deniedPaths": ["src"] }')
      await expect.element(page.getByText('1 file becomes read-only')).toBeVisible()
      await page.getByLabelText('Path', { exact: true }).fill('src/b.js')
      await expect.element(page.getByText(/Blocked: src\/b\.js/).first()).toBeVisible()
    },
  )
})

describe('wardspace-terminal under the Content-Security-Policy of the guide, which stays in force', () => {
  const refused: string[] = []
  beforeAll(async () => {
    const guide = await commands.readFile('docs/guide/browser.md')
    const content = /\bstyle-src [^;]+/.exec(guide)?.[0] ?? ''
    const policy = Object.assign(document.createElement('meta'), { httpEquiv: 'Content-Security-Policy', content })
    document.head.append(policy)
    document.addEventListener('securitypolicyviolation', ({ sourceFile }) => refused.push(sourceFile))
  })

  it.runIf(isLong)(
    'runs lines, keeps the directory, shows what was refused, and goes back in its history',
    async () => {
      const { workspace } = await openRun()
      const element = show('wardspace-terminal', { controller: createTerminal({ workspace }) })
      const field = page.getByRole('textbox', { name: 'Terminal input' })
      await expect.element(field).toBeInTheDocument()
      field.element().focus()
      const enter = (line: string) => userEvent.keyboard(`${line.replaceAll(/[{[]/g, '$&$&')}{Enter}`)
      const output = () => element.shadowRoot?.querySelector('.xterm-rows')?.textContent ?? ''
      await enter('cd src && printf "\\033]0;title\\007\\033[31mred\\033[0m\\n"')
      await expect.poll(output, { timeout: 30_000 }).toMatch(/red\s*\/workspace\/src \$/)
      const red = [...(element.shadowRoot?.querySelectorAll('.xterm-rows span') ?? [])].find(
        (part) => part.textContent === 'red',
      )
      expect(red && getComputedStyle(red)).toMatchObject({
        color: 'rgb(160, 31, 23)',
        fontFamily: expect.stringMatching(/monospace$/),
      })
      const shown = (part: string) => element.shadowRoot?.querySelector(part)?.getBoundingClientRect().height
      element.style.display = 'block'
      for (const height of [300, 200]) {
        element.style.height = `${height}px`
        await expect.poll(() => shown('.terminal')).toBe(height)
        await expect.poll(() => shown('.xterm-screen')).toSatisfy((rows: number) => rows > height / 2 && rows <= height)
      }
      element.removeAttribute('style')
      element.style.height = '600px'
      await enter('ls; cat ../.env')
      await expect.poll(output).toMatch(/price\.js.*Blocked: \.env is a secret file/s)
      expect(await violations()).toEqual([])
      await userEvent.keyboard('{ArrowUp}{ArrowUp}{ArrowDown}')
      await expect.poll(output).toMatch(/\$ ls; cat \.\.\/\.env\s*$/)
      await userEvent.keyboard('{Control>}u{/Control}cat pri{Tab}')
      await expect.poll(output).toMatch(/\$ cat price\.js\s*$/)
      expect(refused).toEqual([])
    },
  )
})
