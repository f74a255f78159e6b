import type { Page } from 'playwright'
import { describe, expect, it } from 'vitest'
import { isLong, times } from '../counts.ts'
import { longestTask } from './long-task.ts'
import { becomePhone, command, patiently, prints, show, terminalInput, typeCommand } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

/** The rows of the screen, without those that are empty. */
const rowsOf = (page: Page) =>
  page
    .locator('wardspace-terminal .xterm-rows > div')
    .evaluateAll((rows) => rows.map(({ textContent }) => (textContent ?? '').replaceAll('\u00a0', ' ')).filter(Boolean))

describe('the terminal on a phone', () => {
  it.runIf(isLong)(
    'breaks its own sentences at words, again in another width, and leaves the output of commands',
    async () => {
      const page = await playground.sample('price-list', { storage: 'memory' })
      await becomePhone(page)
      await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'More' }).click()
      await page
        .locator('.more-list')
        .getByRole('button', { name: /^Terminal/ })
        .click()
      await terminalInput(page).focus()
      await page.keyboard.type("printf '%060d\\n' 7\nvim src/price.js\n")
      await prints(page, /vim is not/)
      const said = 'The files of this project, in bash. The commands of the agent appear here too.'
      const shown = async () => {
        const rows = await rowsOf(page)
        return { words: rows.map((row) => row.trim()).join(' '), cells: rows.join('') }
      }
      const whole = (await shown()).words
      const hint = /vim is not available here.*?(?= \/workspace)/.exec(whole)?.[0] ?? 'no hint'
      expect(hint.length).toBeGreaterThan(60)
      for (const width of [390, 700, 390]) {
        await page.setViewportSize({ width, height: 844 })
        if (width === 390) await expect.poll(async () => (await rowsOf(page)).length, patiently).toBeGreaterThan(8)
        for (const text of [said, hint]) await expect.poll(async () => (await shown()).words, patiently).toContain(text)
        expect((await shown()).cells).toContain(`${'0'.repeat(59)}7`)
        // The typed line goes on where it was.
        await page.keyboard.type('a')
        await expect.poll(async () => (await rowsOf(page)).at(-1)?.trim(), patiently).toMatch(/\$ a+$/)
      }
    },
  )
})

describe('the terminal in the page', () => {
  it.runIf(isLong)(
    'shows the last line of a long output within its place, at every height and with a font that loads late',
    async () => {
      const person = await playground.person()
      let load = () => {}
      const mayLoad = new Promise<void>((resolve) => {
        load = resolve
      })
      await person.route(/jetbrains-mono.*\.woff2/, async (route) => {
        await mayLoad
        await route.continue()
      })
      const page = await playground.sample('price-list', { context: person })
      const heights = () =>
        page.evaluate(() => {
          const boxOf = (element: Element | null | undefined) => element?.getBoundingClientRect()
          const { shadowRoot } = document.querySelector('wardspace-terminal') ?? {}
          const [screen, row] = ['.xterm-screen', '.xterm-rows > div'].map((name) =>
            boxOf(shadowRoot?.querySelector(name)),
          )
          const place = boxOf(document.querySelector('.terminal-place'))
          return { beyond: (screen?.bottom ?? Number.NaN) - (place?.bottom ?? Number.NaN), row: row?.height }
        })
      const beyond = async () => (await heights()).beyond
      await command(page, 'seq 1 300', /300/)
      await expect.poll(beyond).toBeLessThanOrEqual(0)
      const { row } = await heights()

      load()
      await expect.poll(async () => (await heights()).row).not.toBe(row)
      for (const height of [900, 873, 861]) {
        await page.setViewportSize({ width: 1400, height })
        await expect.poll(beyond).toBeLessThanOrEqual(0)
      }
    },
  )

  const count = times(10_000, 100_000)
  it.runIf(isLong)(`prints ${count.toLocaleString('en')} lines without a long task, and keeps their end`, async () => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    await command(page, 'echo ready', /ready[\s\S]*ready/)
    // Text without a key, as of a panel of emojis or a keyboard on a screen, is typed once.
    await page.keyboard.insertText('echo é🎉')
    await command(page, ' ok', /é🎉 ok[^é]*é🎉 ok/)
    const tasks: number[] = []
    for (const [line, end] of [
      [`seq 1 ${count}`, new RegExp(`${count - 1}${count}/workspace`)],
      [
        `node -e 'for (let i = 1; i <= ${count}; i++) console.log("line " + i)'`,
        new RegExp(`line ${count - 1}line ${count}/workspace`),
      ],
    ] as const) {
      tasks.push(await longestTask(page, () => command(page, line, end)))
    }
    console.log(
      `Longest tasks while ${count} lines are printed: ${tasks.map(Math.round).join(', ')} ms of the processor`,
    )
    // An idle machine needs a quarter of this time.
    expect(Math.max(...tasks)).toBeLessThan(250)
    // The wheel scrolls up and down. It brings no earlier line to the prompt.
    const end = await rowsOf(page)
    await page.locator('wardspace-terminal').hover()
    await page.mouse.wheel(0, -100)
    await expect.poll(async () => (await rowsOf(page)).at(-1), patiently).toMatch(/^line \d+\s*$/)
    await page.mouse.wheel(0, 5_000)
    await expect.poll(() => rowsOf(page), patiently).toEqual(end)
  })

  it.runIf(isLong)('has a dialogue with running programs', async () => {
    const page = await playground.sample('price-list')
    const type = (text: string) => page.keyboard.type(text)
    await command(page, 'read -p "Your name? " name; echo "Hello, $name"', /Hello, \$name"Your name\? /)
    await type('Ana\n')
    await prints(page, /Your name\? AnaHello, Ana/)

    const script = `const rl = require('readline').createInterface({ input: process.stdin, output: process.stdout })
let n = 0; rl.setPrompt('> '); rl.prompt()
rl.on('line', (line) => { if (line === 'quit') return rl.close(); console.log(line.length, ++n); rl.prompt() })
rl.on('close', () => console.log('bye'))`
    await typeCommand(page, `cat > echo.cjs`)
    await prints(page, /The command waits for input/)
    await type(`${script}\n`)
    await page.keyboard.press('Control+D')
    await prints(page, /changed: echo\.cjs/)
    await command(page, 'node echo.cjs', /node echo\.cjs> /)
    await type('one\n')
    await prints(page, /> one3 1> /)
    await type('thre')
    await page.keyboard.press('Backspace')
    await type('ee\nquit\n')
    await prints(page, /> three5 2> quitbye/)

    // What is half typed when a program ends is for the next line, and Ctrl+C ends a program that waits.
    await command(
      page,
      `node -e "process.stdin.on('data', () => {}); setTimeout(() => process.exit(), 1500)"`,
      /1500\)"/,
    )
    await type('echo half')
    await prints(page, /\$ echo half/)
    await type(' done\n')
    await prints(page, /half donehalf done/)
    await typeCommand(page, 'sort')
    await prints(page, /sortThe command waits for input\. Enter sends a line, Ctrl\+D ends it\./)
    await type('b\n')
    await page.keyboard.press('Control+C')
    await command(page, 'echo $?', /echo \$\?130/)
  })

  it('pastes by keys, line by line', async () => {
    const page = await playground.sample('price-list')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await command(page, 'echo ready', /readyready/)
    await page.evaluate(() => navigator.clipboard.writeText('echo first\necho second\n'))
    await terminalInput(page).focus()
    await page.keyboard.press('Control+V')
    await prints(page, /echo firstfirst[\s\S]*echo secondsecond/)
    // The browser pastes by a key that the terminal leaves to it.
    const isLeft = (modifiers: Pick<KeyboardEventInit, 'ctrlKey' | 'metaKey' | 'shiftKey'>) =>
      terminalInput(page).evaluate(
        (field, pressed) =>
          field.dispatchEvent(
            new KeyboardEvent('keydown', { key: 'v', code: 'KeyV', bubbles: true, cancelable: true, ...pressed }),
          ),
        modifiers,
      )
    expect(await isLeft({ metaKey: true })).toBe(true)
    expect(await isLeft({ ctrlKey: true, shiftKey: true })).toBe(true)
  })

  it.runIf(isLong)(
    'opens files at their line and addresses in a tab of their own, by a click and by keys',
    async () => {
      const person = await playground.person()
      await person.route('https://example.test/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: 'there' }),
      )
      const page = await playground.sample('price-list', { storage: 'memory', context: person })
      const address = `https://example.test/${'a'.repeat(150)}?b=1`
      await command(page, `echo "at src/price.js:4:3, see ${address}."`, /\?b=1\..*\?b=1\./)
      const rows = page.locator('wardspace-terminal .xterm-rows > div')
      /** A point on the last row that has a text. */
      const pointOf = async (text: string) => {
        const box = await rows
          .filter({ hasText: text })
          .last()
          .evaluate((row, part) => {
            const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT)
            let before = 0
            const at = row.textContent.indexOf(part)
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
              const { length } = node.textContent ?? ''
              if (at >= before && at < before + length) {
                const range = document.createRange()
                range.setStart(node, at - before)
                range.setEnd(node, Math.min(length, at - before + part.length))
                return range.getBoundingClientRect().toJSON() as { x: number; y: number; width: number; height: number }
              }
              before += length
            }
            return undefined
          }, text)
        if (box === undefined) throw new Error(`The terminal does not show ${text}`)
        return [box.x + box.width / 2, box.y + box.height / 2] as const
      }
      const click = async (text: string) => {
        let point: readonly [number, number] = [0, 0]
        // Rows that arrive late move the text away from the pointer.
        const isOverLink = async () => {
          point = await pointOf(text)
          // The terminal asks again for the links of a row if the pointer comes from another one.
          const [x, y] = point
          await page.mouse.move(x, y - 40)
          await page.mouse.move(x, y, { steps: 3 })
          return (await page.locator('wardspace-terminal .xterm-cursor-pointer').count()) > 0
        }
        await expect.poll(isOverLink, patiently).toBe(true)
        await page.mouse.click(...point)
      }
      const line = () => page.locator('.cm-activeLineGutter').first().textContent()

      const opens = async () => {
        await click('src/price.js:4')
        return page
          .getByRole('textbox', { name: 'Text of src/price.js' })
          .waitFor({ timeout: 5_000 })
          .then(
            () => true,
            () => false,
          )
      }
      // A row that is drawn again between the press and the release takes its link away.
      await expect.poll(opens, patiently).toBe(true)
      await expect.poll(line, patiently).toBe('4')
      // The address continues in the next row.
      const popup = person.waitForEvent('page')
      await click('?b=1')
      const opened = await popup
      await opened.waitForLoadState()
      expect(opened.url()).toBe(address)
      expect(await opened.evaluate(() => [globalThis.opener, document.referrer])).toEqual([null, ''])
      await opened.close()

      await show(page, 'Files')
      await page.locator('[data-path="README.md"]').click()
      await page.getByRole('textbox', { name: 'Text of README.md' }).waitFor()
      await terminalInput(page).focus()
      const chosen = page.locator('wardspace-terminal [role="status"]')
      for (const text of [address, 'src/price.js:4:3']) {
        await page.keyboard.press('Alt+ArrowUp')
        await expect.poll(() => chosen.textContent(), patiently).toBe(`Link ${text}. Enter opens it.`)
      }
      await page.keyboard.press('Enter')
      await page.getByRole('textbox', { name: 'Text of src/price.js' }).waitFor()
    },
  )
})
