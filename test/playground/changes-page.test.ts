import { crc32, deflateSync } from 'node:zlib'
import type { Locator } from 'playwright'
import { expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import { longestTask } from './long-task.ts'
import {
  becomePhone,
  button,
  command,
  conversationText,
  filesOnDisk,
  importFiles,
  ownModel,
  patiently,
  reload,
  runTo,
  show,
  stores,
} from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

it('Changes takes back one change and brings it back, marks, comments, and moves by keys', async () => {
  const page = await playground.sample('price-list', { storage: 'memory' })
  await runTo(page, 'All tests pass.')
  await command(page, 'echo new > new.txt && echo made', /made[\s\S]*made/)
  await show(page, 'Changes')
  const tree = page.getByRole('tree', { name: 'Changed files' })
  await tree.getByRole('treeitem', { name: /new\.txt.*added/ }).waitFor()
  await tree.getByRole('treeitem', { name: /price\.js.*changed/ }).click()
  const change = page.getByRole('region', { name: 'Change 1 of 1, Line 4' })
  await change.waitFor()

  // N goes to the change, A accepts it, R takes it back.
  await button(page, 'Next change').focus()
  await page.keyboard.press('n')
  await expect
    .poll(() => change.evaluate((hunk) => (hunk.getRootNode() as ShadowRoot).activeElement === hunk), patiently)
    .toBe(true)
  await page.keyboard.press('a')
  await page.getByRole('region', { name: 'Change 1 of 1, Line 4, reviewed' }).waitFor()
  await page.keyboard.press('v')
  await page.getByText('1 viewed').waitFor()
  await page.keyboard.press('c')
  await page.locator('.comment-form textarea:focus').waitFor()
  await page.keyboard.type('Say why')
  await page.keyboard.press('Control+Enter')
  await page.getByText('1 comment not sent yet').waitFor()
  await button(page, 'Revert').click()
  await page.getByText('The change is taken back').first().waitFor()
  expect((await filesOnDisk(page))['src/price.js']).toContain('Math.floor((cents')
  await button(page, 'Undo').click()
  await page.getByText('The changes are back').first().waitFor()
  expect((await filesOnDisk(page))['src/price.js']).toContain('Math.round((cents')

  // A script does not read comments, so the comment stays.
  await page.getByText('1 comment not sent yet. The scripted model cannot read comments').waitFor()
  expect(await button(page, 'Send to the agent').isDisabled()).toBe(true)
  // A model that is chosen now gets it.
  await ownModel(page, { Address: 'http://127.0.0.1:9/v1', Model: 'a-model', Key: 'a-key' })
  await button(page, 'Send to the agent').click()
  await expect
    .poll(() => conversationText(page), patiently)
    .toMatch(/`?src\/price\.js`?, line 4:\s*>?.*Math\.round.*Say why/s)
  await page.getByRole('region', { name: 'End of the run' }).waitFor()
})

it.runIf(isLong)(
  'a comment is written by keys, and its text is kept over closing, another file and a reload',
  async () => {
    const page = await playground.sample('price-list')
    await runTo(page, 'All tests pass.')
    await command(page, 'echo new > new.txt && echo made', /made[\s\S]*made/)
    const tree = page.getByRole('tree', { name: 'Changed files' })
    const change = page.getByRole('region', { name: 'Change 1 of 1, Line 4' })
    const field = page.getByRole('textbox', { name: 'Comment for the agent' })
    const openChange = async () => {
      await show(page, 'Changes')
      await tree.getByRole('treeitem', { name: /price\.js.*changed/ }).click()
      await change.waitFor()
    }
    const isFocused = (place: Locator) =>
      place.evaluate((element) => (element.getRootNode() as ShadowRoot).activeElement === element)
    await openChange()
    await change.focus()
    await page.keyboard.press('c')
    await expect.poll(() => isFocused(field), patiently).toBe(true)
    await page.keyboard.type('Say why')
    // Closed and opened again, it has its text, and the focus goes back to the change.
    for (const close of [() => page.keyboard.press('Escape'), () => button(page, 'Cancel').press('Enter')]) {
      await close()
      await expect.poll(() => isFocused(change), patiently).toBe(true)
      expect(await field.count()).toBe(0)
      await page.keyboard.press('c')
      expect(await field.inputValue()).toBe('Say why')
    }
    await tree.getByRole('treeitem', { name: /new\.txt/ }).click()
    await page.getByRole('region', { name: 'Change 1 of 1, Line 1' }).waitFor()
    await openChange()
    expect(await field.inputValue()).toBe('Say why')
    await stores(page, 'Say why')
    await reload(page)
    await becomePhone(page)
    await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Changes' }).click()
    await tree.getByRole('treeitem', { name: /price\.js.*changed/ }).click()
    expect(await field.inputValue()).toBe('Say why')
    expect(await isFocused(field)).toBe(false)
    for (const part of [field, page.getByLabel('From line'), page.getByLabel('to line'), button(page, 'Add comment')]) {
      const box = await part.boundingBox()
      expect(Math.min(box?.height ?? 0, 44)).toBe(44)
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
    }
    await field.focus()
    await page.keyboard.press('Control+Enter')
    await page.getByText('1 comment not sent yet').waitFor()
    await expect.poll(() => isFocused(change), patiently).toBe(true)
    // The text that was added is no draft any more.
    await change.press('c')
    expect(await field.inputValue()).toBe('')
    await button(page, 'Cancel').click()
    await button(page, 'Remove the comment').press('Enter')
    await page.getByText('not sent yet').waitFor({ state: 'detached' })
  },
)

/** A black image. */
function png(width: number, height: number): Uint8Array {
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head[8] = 8
  const rows = deflateSync(Buffer.alloc((width + 1) * height))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

const lineCount = 50_000
const grouped = (count: number) => count.toLocaleString('en')

it.runIf(isLong)(
  `Changes shows ${grouped(lineCount)} lines in parts without a long task, and files without lines as what they are`,
  async () => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    const lines = Array.from({ length: lineCount }, (_, at) => `export const value${at} = compute(${at}, "text")\n`)
    const every = (step: number) =>
      lines.map((line, at) => (at % step === 0 ? line.replace('text', 'other') : line)).join('')
    await importFiles(page, 'large', {
      'half.js': lines.join(''),
      'new/half.js': every(2),
      'whole.js': lines.join(''),
      'new/whole.js': every(1),
      'logo.png': png(40, 20),
      'new/logo.png': png(64, 48),
      'data.bin': Uint8Array.from({ length: 2_345 }, (_, at) => at),
      'paper.pdf': '%PDF-1.7\n\0',
      'new/paper.pdf': '%PDF-1.7\n\0\0',
    })
    await command(page, 'mv new/* . && rm data.bin && echo moved', /moved[\s\S]*moved/)
    await show(page, 'Changes')
    const tree = page.getByRole('tree', { name: 'Changed files' })
    const file = (path: string) => tree.getByRole('treeitem').filter({ has: page.locator(`[title="${path}"]`) })
    const tasks: number[] = []
    for (const [path, first] of [
      ['half.js', `Change 1 of ${lineCount / 2}, Line 1`],
      ['whole.js', `Change 1 of 1, Lines 1–${lineCount}`],
    ] as const) {
      const showFile = async () => {
        await file(path).click()
        await page.getByRole('region', { name: first, exact: true }).waitFor()
      }
      tasks.push(await longestTask(page, showFile))
    }
    const further = (count: number) => page.getByRole('button', { name: `of ${grouped(count)} further` })
    const rest = 2 * lineCount - 200
    tasks.push(
      await longestTask(page, () =>
        further(rest)
          .click()
          .then(() => further(rest - 200).waitFor()),
      ),
    )
    await file('half.js').click()
    const hunks = page.locator('.change-hunk')
    await hunks.first().waitFor()
    const count = await hunks.count()
    expect(count).toBeLessThan(100)
    // The next part is there when the last change of this one is looked at.
    tasks.push(
      await longestTask(page, async () => {
        await hunks.last().focus()
        await page.keyboard.press('n')
        await expect.poll(() => hunks.count(), patiently).toBeGreaterThan(count)
      }),
    )
    console.log(
      `Longest tasks of a review of ${grouped(lineCount)} lines: ${tasks.map(Math.round).join(', ')} ms of the processor`,
    )
    // An idle machine needs a quarter of this time.
    expect(Math.max(...tasks)).toBeLessThan(250)

    const review = page.locator('.no-lines')
    await file('logo.png').click()
    await review.getByText('An image. It has no lines to compare.').waitFor()
    const images = () =>
      review
        .locator('figure')
        .evaluateAll((all) => all.map((one) => `${one.textContent} ${one.querySelector('img')?.naturalWidth}`))
    await expect
      .poll(images, patiently)
      .toEqual([
        expect.stringMatching(/^Before \d+ bytes, 40 × 20 pixels 40$/),
        expect.stringMatching(/^Now \d+ bytes, 64 × 48 pixels 64$/),
      ])
    await file('paper.pdf').click()
    await review.getByText('A PDF document. It has no lines to compare.').waitFor()
    await expect.poll(images, patiently).toEqual(['Before 10 bytes undefined', 'Now 11 bytes undefined'])
    await file('data.bin').click()
    await review.getByText('A binary file. It has no lines to compare.').waitFor()
    await expect.poll(images, patiently).toEqual(['Before 2.3 KB (2,345 bytes) undefined', 'Now no file undefined'])
  },
)
