import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { samples } from '../../playground/projects/samples/index.ts'
import { isLong } from '../counts.ts'
import {
  activity,
  applyPreset,
  button,
  changedFiles,
  command,
  conversationText,
  exported,
  fact,
  filesOnDisk,
  importFiles,
  openFile,
  projectButton,
  reload,
  runTo,
  show,
} from './person.ts'
import { usePlayground } from './shared.ts'

/** What the page states about a project is so. */
const playground = usePlayground()

async function run(page: Page, end: string): Promise<void> {
  await show(page, 'Agent')
  await runTo(page, end)
}

describe('a project with several runs, a repository and a reload', () => {
  let page: Page

  beforeAll(async () => {
    page = await playground.sample('price-list')
  })

  it('replays a command of the person and the default demo with the same results', async () => {
    await show(page, 'Report')
    await button(page, 'Record from here').click()
    await page.getByRole('button', { name: /^Stop \(0/ }).waitFor()
    await command(page, 'sed -i s/price/cost/ README.md; echo do""ne', 'done')
    await page.getByRole('button', { name: /^Stop \([1-9]/ }).waitFor()
    await run(page, 'All tests pass.')
    await page.getByRole('button', { name: /^Stop \(/ }).click()
    await button(page, 'Replay').click()
    const status = page.getByRole('status').filter({ hasText: /Replayed|Differs/ })
    await status.waitFor()
    expect(await status.textContent()).toMatch(/^Replayed: \d+ steps? had the same result$/)
  })

  it.runIf(isLong)('shows the limits of one run', async () => {
    await show(page, 'Agent')
    await button(page, 'New').click()
    await run(page, 'nothing to mend')
    await show(page, 'Limits')
    expect(await fact(page, 'Calls').textContent()).toBe('1')
    expect(await fact(page, 'Blocked').textContent()).toBe('0')
  })

  it.runIf(isLong)('lists no files of git as changes', async () => {
    await command(
      page,
      'git init -q && git add . && git commit -qm first && git checkout -qb mine && echo com""mitted',
      'committed',
    )
    await command(page, 'echo more >> README.md; echo app""ended', 'appended')
    expect(await changedFiles(page)).toEqual(['README.md', 'src/price.js'])
    expect(await activity(page, 'Changes').textContent()).toContain('2')
    await show(page, 'Timeline')
    await page.getByRole('option').filter({ hasText: 'git init' }).click()
    expect(await page.locator('.call-changes').count()).toBe(0)
  })

  it('exports what Changes shows as a patch: after a commit, a policy, a recording and a reload', async () => {
    await command(
      page,
      'mkdir -p d/e && echo x > d/f && ln -s ../f d/e/l && printf "\\0" > d/b.bin; echo ma""de',
      'made',
    )
    await applyPreset(page, 'readOnly')
    await reload(page)
    await openFile(page, 'README.md')
    expect(await changedFiles(page)).toEqual(['README.md', 'd/b.bin', 'd/e/l', 'd/f', 'src/price.js'])
    const patch = await exported(page, 'Changes as a patch')
    expect(await page.getByText('not complete').count()).toBe(0)
    const directory = mkdtempSync(join(tmpdir(), 'playground-patch-'))
    try {
      const before = (await samples.find(({ id }) => id === 'price-list')?.files()) ?? {}
      for (const [path, text] of Object.entries(before)) {
        mkdirSync(dirname(join(directory, path)), { recursive: true })
        writeFileSync(join(directory, path), text)
      }
      writeFileSync(join(directory, 'the.patch'), patch)
      execFileSync('git', ['apply', 'the.patch'], { cwd: directory })
      const after = await filesOnDisk(page)
      for (const path of [...Object.keys(before), 'd/f', 'd/b.bin'])
        expect(readFileSync(join(directory, path), 'utf8'), path).toBe(after[path])
      expect(readlinkSync(join(directory, 'd/e/l'))).toBe('../f')
      expect(patch.toString()).not.toContain('.git')
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('shows in the dialog why an export failed', async () => {
    const files = '**/export-repository*.js'
    await page.route(files, (route) => route.abort())
    await projectButton(page).click()
    await button(page, 'As a git repository').click()
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .filter({ hasText: 'This part could not be loaded. Reload the page.' })
      .waitFor()
    await page.keyboard.press('Escape')
    await page.unroute(files)
  })
})

describe('the scripted agent', () => {
  it.runIf(isLong)(
    'does not claim that tests pass where there are none, and counts refusals as its report does',
    async () => {
      const page = await playground.sample('release-notes')
      await run(page, 'of them were refused')
      const [, calls, commands] =
        /counts (\d+) refused calls and (\d+) commands/.exec((await conversationText(page)) ?? '') ?? []
      expect(Number(calls) + Number(commands)).toBe(7)
      await show(page, 'Report')
      await page.getByRole('cell', { name: `carried out, ${calls} refused` }).waitFor()
      await show(page, 'Limits')
      expect(await fact(page, 'Blocked').textContent()).toBe('7')
      await importFiles(page, 'notes', { 'notes.txt': 'a\n' })
      await run(page, 'does not work here')
    },
  )
})
