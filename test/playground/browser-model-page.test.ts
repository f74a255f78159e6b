import { expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import { button, chooseOption, message, patiently, says, settled } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

it('the browser’s own model is downloaded with its progress, and shows its own count of the context', async () => {
  const person = await playground.person()
  // A stand-in that behaves as the specification of the Prompt API says. No browser here has a model.
  await person.addInitScript(() => {
    let availability = 'downloadable'
    const steps: (() => void)[] = []
    const create = async ({ monitor }: { readonly monitor?: (monitor: EventTarget) => void } = {}) => {
      if (availability === 'downloadable') {
        availability = 'downloading'
        const progress = new EventTarget()
        monitor?.(progress)
        for (const loaded of [0.42, 1]) {
          await new Promise<void>((resolve) => steps.push(resolve))
          progress.dispatchEvent(new ProgressEvent('downloadprogress', { loaded, total: 1, lengthComputable: true }))
        }
        await new Promise<void>((resolve) => steps.push(resolve))
        availability = 'available'
      }
      const prompt = async () => JSON.stringify({ say: 'I am small.', call: null })
      return { contextUsage: 2_304, contextWindow: 9_216, prompt, destroy() {} }
    }
    Object.assign(globalThis, { steps, LanguageModel: { availability: async () => availability, create } })
  })
  const page = await settled(await playground.open(person, '?sample=price-list&storage=memory'))
  const goOn = async () => {
    const next = () =>
      page.evaluate(() => {
        const step = (globalThis as unknown as { steps: (() => void)[] }).steps.shift()
        step?.()
        return step !== undefined
      })
    await expect.poll(next, patiently).toBe(true)
  }
  await chooseOption(page, 'Model', 'builtin')
  await page.getByText('Runs on this machine, once the browser has downloaded it').waitFor()
  await button(page, 'Download').click()
  await page.getByText('0 % downloaded').waitFor()
  await goOn()
  await page.getByText('42 % downloaded').waitFor()
  await goOn()
  await page.getByText('100 % downloaded').waitFor()
  await goOn()
  await page.getByText('Runs on this machine.', { exact: true }).waitFor()
  await message(page).fill('Who are you?')
  await button(page, 'Send').click()
  await says(page, 'I am small.')
  const meter = page.getByRole('meter', { name: 'Context of the model' })
  await expect.poll(() => meter.evaluate((element: HTMLMeterElement) => element.value), patiently).toBe(0.25)
  await page.getByText('25 % of the context').waitFor()
})

it.runIf(isLong)('a browser without a model of its own says so in a sentence', async () => {
  const page = await playground.sample('price-list', { storage: 'memory' })
  await chooseOption(page, 'Model', 'builtin')
  await page.getByText('This browser has no language model of its own. Choose another model.').waitFor()
})
