import { createServer } from 'node:net'
import { chromium, type Page } from 'playwright'
import { expect, it, onTestFinished } from 'vitest'
import { isLong } from '../counts.ts'
import { chromiumArgs, chromiumPath } from '../runtimes/chromium.ts'
import { viewport } from './open.ts'
import { approval, button, patiently, run, settled } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

/** A page of a browser in which Playwright does not keep all pages in front. */
async function openPage(): Promise<Page> {
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })
  const args = [...chromiumArgs, `--remote-debugging-port=${port}`]
  const host = await chromium.launch({ executablePath: await chromiumPath(), args })
  onTestFinished(() => host.close())
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, { noDefaults: true })
  const page = await browser.contexts()[0]?.newPage()
  if (page === undefined) throw new Error('The browser has no context of its own')
  page.setDefaultTimeout(90_000)
  await page.setViewportSize(viewport)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  return page
}

/** Hides a page as a tab behind another one. Leaves it running. */
async function hide(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Page.setWebLifecycleState', { state: 'frozen' })
  await devtools.send('Page.setWebLifecycleState', { state: 'active' })
  expect(await page.evaluate(() => document.visibilityState)).toBe('hidden')
}

const notices = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as { shown: { text: string; isOpen: boolean }[] }).shown)

it.runIf(isLong)(
  'an approval that begins to wait in a hidden tab is in its title, and a notification where the person allows it',
  async () => {
    const page = await openPage()
    await page.goto(`${playground.url}?sample=order-book&storage=memory`)
    await settled(page)
    await button(page, 'Settings').click()
    const wanted = page.getByRole('checkbox', { name: /Notify me/ })
    // This browser refuses all notifications.
    await wanted.click()
    await page.getByText('The browser does not let this page notify you').waitFor()
    expect(await wanted.isChecked()).toBe(false)
    await page.evaluate(() => {
      const shown: { text: string; isOpen: boolean }[] = []
      class AllowedNotification extends EventTarget {
        static requestPermission = async () => 'granted'
        readonly #notice: { text: string; isOpen: boolean }
        constructor(title: string, { body }: NotificationOptions) {
          super()
          this.#notice = { text: `${title}: ${body}`, isOpen: true }
          shown.push(this.#notice)
        }
        close() {
          this.#notice.isOpen = false
        }
      }
      Object.assign(globalThis, { shown, Notification: AllowedNotification })
    })
    await wanted.click()
    await expect.poll(() => wanted.isChecked(), patiently).toBe(true)
    await page.keyboard.press('Escape')

    // Seen while it waits: no notification.
    await run(page)
    const plan = approval(page, 'submit_plan')
    await plan.waitFor()
    expect(await page.title()).toBe('(1) Waiting for you · Wardspace playground')
    await hide(page)
    expect(await notices(page)).toEqual([])
    // A press in a hidden page has no frame to wait for.
    const press = async (name: string) => {
      const first = button(page, name).first()
      await expect.poll(() => first.getAttribute('aria-disabled'), patiently).toBe('false')
      await first.evaluate((element: HTMLElement) => element.click())
    }
    await press('Approve the plan')

    const edit = approval(page, 'edit_file')
    await expect.poll(() => edit.count(), patiently).toBe(1)
    expect(await page.title()).toBe('(1) Waiting for you · Wardspace playground')
    const first = { text: expect.stringMatching(/^The agent waits for you.*: Edit src\/\w+\.js\?$/), isOpen: true }
    expect(await notices(page)).toEqual([first])
    for (const _ of [1, 2, 3, 4, 5]) {
      const asked = await page.getByRole('article').first().textContent()
      await press('Approve')
      const other = () =>
        page
          .getByRole('article')
          .first()
          .textContent({ timeout: 100 })
          .catch(() => 'answered')
      await expect.poll(other, patiently).not.toBe(asked)
    }
    await expect.poll(() => page.title(), patiently).toBe('Wardspace playground')
    const all = await notices(page)
    expect(all).toHaveLength(5)
    expect(all.filter(({ isOpen }) => isOpen)).toEqual([])
  },
)
