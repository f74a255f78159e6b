import { expect, it } from 'vitest'
import { longestTask } from './long-task.ts'
import { command, openFile, patiently, show, terminalInput, terminalText } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

it('holds less than 20 MB after 500 calls', async () => {
  const page = await playground.sample('price-list', { storage: 'memory' })
  await command(page, 'echo ready', /ready[\s\S]*ready/)
  await terminalInput(page).focus()
  const lines = Array.from({ length: 500 }, (_, at) => `echo $((${at} * 7)) >> numbers.txt`)
  await page.keyboard.insertText(`${lines.join('\r')}\recho all $(wc -l < numbers.txt)\r`)
  await expect.poll(() => terminalText(page), { timeout: 600_000, interval: 1000 }).toContain('all 500')
  const devtools = await page.context().newCDPSession(page)
  // The page may still be at work on the last call.
  const used = async () => {
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await devtools.send('Runtime.getHeapUsage')
    console.log(`Heap after 500 calls: ${(usedSize / 1e6).toFixed(1)} MB`)
    return usedSize
  }
  await expect.poll(used, { timeout: 20_000, interval: 2000 }).toBeLessThan(20e6)
})

it('has no task over 100 ms of the processor in a project of 10,000 files', async () => {
  const page = await playground.sample('price-list', { storage: 'memory' })
  await command(page, 'echo ready', /ready[\s\S]*ready/)
  await command(
    page,
    'for i in $(seq 1 100); do mkdir -p d/$i; for j in $(seq 1 100); do echo $i $j > d/$i/$j.txt; done; done; ls d | wc -l',
    /\n?100\D/,
  )
  await expect.poll(() => page.getByRole('treeitem', { name: /^d/ }).count(), patiently).toBe(1)
  const tasks: Record<string, number> = {}
  const measure = async (what: string, act: () => Promise<unknown>) => {
    tasks[what] = Math.round(await longestTask(page, act))
  }
  await measure('a file is opened', () => openFile(page, 'd/7/7.txt'))
  await measure('the changes are shown', async () => {
    await show(page, 'Changes')
    await page.getByText(/10,?000 files have changed|10000 files have changed/).waitFor()
  })
  await measure('a text is searched', async () => {
    await page.keyboard.press('Control+Shift+f')
    await page.getByRole('searchbox', { name: 'Search files and text' }).fill('7 99')
    await page.getByRole('listbox', { name: 'Search results' }).getByRole('option').first().waitFor()
  })
  await measure('a command changes a file', () =>
    command(page, 'echo new > d/7/7.txt; echo wrote', /wrote[\s\S]*wrote/),
  )
  console.log(`Longest tasks with 10,000 files, ms of the processor: ${JSON.stringify(tasks)}`)
  expect(Math.max(...Object.values(tasks))).toBeLessThan(100)
})
