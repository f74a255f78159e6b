import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { partOfLine, partsOf, textOfPart } from '../../playground/session/file-parts.ts'
import { resolvePath } from '../../playground/session/preview-page.ts'
import { isLong } from '../counts.ts'
import { button, editor, importFiles, patiently, replaceText, settled, stageTab } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

/** One page for all cases of this file. */
let page: Page

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==',
  'base64',
)

const site = {
  'site/index.html': `<!doctype html><html><head><link rel="stylesheet" href="css/main.css"><base href="https://evil.example/">
<script src="/site/classic.js"></script></head><body><h1 id="title">Before</h1><img id="logo" src="../img/logo.png">
<a href="about.html">About</a><script type="module" src="./app/main.js"></script></body></html>`,
  'site/about.html': '<h1>About us</h1>',
  'site/css/main.css': '@import "colours.css"; h1 { background: url("../../img/logo.png") }',
  'site/css/colours.css': 'h1 { color: rgb(1, 2, 3) }',
  'site/classic.js': 'globalThis.classic = "classic ran"',
  'site/app/main.js': `import { name } from './name.js'
import data from '../data.json' with { type: 'json' }
const { late } = await import('./late.js')
document.getElementById('title').textContent = [name, data.n, late, classic].join(' ')`,
  'site/app/name.js': `export { name } from './deep/name.js'`,
  'site/app/deep/name.js': `export const name = 'shop'`,
  'site/app/late.js': `export const late = 'late'`,
  'site/data.json': '{"n":7}',
  'img/logo.png': pixel,
  'img/logo.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>alert(1)</script><rect width="40" height="20"/></svg>',
  '.env': 'PASSWORD=hunter2',
  'site/maker.html': `<h1>maker</h1><img src="../.env"><script>
const made = () => URL.createObjectURL(new Blob(['<h1>MA' + 'DE</h1>'], { type: 'text/html' }))
const frame = document.createElement('iframe')
frame.src = made()
document.body.append(frame)
setTimeout(() => { location = made() }, 300)
</script>`,
  'site/slow.html': `<link rel="stylesheet" href="css/a.css"><style>a{background:url(${' '.repeat(6_000)}} @import a${' '.repeat(300_000)}x</style>
<h1>Slow</h1><script type="module">//${'import a, '.repeat(50_000)}</script>`,
  'site/css/a.css': '@import "b.css"; @import "b.css";',
  'site/css/b.css': '@import "a.css"; @import "a.css";',
  'valueOf.constructor': 'x',
  'guide.md': '# Guide\n\nSome **bold** text.\n',
  'paper.pdf': '%PDF-1.4\n\u0000',
  'data.bin': Uint8Array.from([0, 1, 2]),
  'big.log': Array.from({ length: 40_000 }, (_, at) => `line ${at + 1} of a log that is long enough`).join('\n'),
}

beforeAll(async () => {
  page = await settled(await playground.open(undefined, '?sample=price-list&storage=memory'))
  await importFiles(page, 'site', site)
}, 240_000)

it('the document of a preview loads no code of the page', async () => {
  const text = await (await fetch(`${playground.url}preview.html`)).text()
  expect(text).toContain('Content-Security-Policy')
  expect(text).not.toContain('assets/')
})

async function open(path: string): Promise<void> {
  await page.keyboard.press('Control+p')
  await page.getByRole('combobox', { name: 'Name of a file' }).fill(path)
  const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
  await expect
    .poll(() => page.getByRole('listbox', { name: 'Files' }).getByRole('option').first().textContent())
    .toContain(`${path.slice(path.lastIndexOf('/') + 1)} ${folder}`)
  await page.keyboard.press('Enter')
  await stageTab(page, path.slice(path.lastIndexOf('/') + 1)).waitFor()
}
/** The sandbox with the page of the project. Each version has its own. */
const sandbox = () => page.frames().findLast((frame) => frame.url() === 'about:srcdoc')
const heading = () =>
  sandbox()
    ?.evaluate(() => document.querySelector('h1')?.textContent)
    .catch(() => undefined)

describe('the preview', () => {
  it('shows a page with the scripts, modules, styles and images of the project, and follows its links', async () => {
    await open('site/index.html')
    await button(page, 'Preview').click()
    await expect.poll(heading, patiently).toBe('shop 7 late classic ran')
    const found = await sandbox()?.evaluate(() => {
      const { color, backgroundImage } = getComputedStyle(document.querySelector('h1') as Element)
      const logo = document.querySelector('img')
      return { color, backgroundImage, height: logo?.naturalHeight, origin: globalThis.origin }
    })
    expect(found).toEqual({
      color: 'rgb(1, 2, 3)',
      backgroundImage: expect.stringMatching(/^url\("data:image\/png/),
      height: 3,
      origin: 'null',
    })
    await sandbox()?.evaluate(() => document.querySelector('a')?.click())
    await expect.poll(heading, patiently).toBe('About us')
    expect(await page.locator('.file-tabs li.active').textContent()).toContain('about.html')
  })

  it.runIf(isLong)('shows text that is not saved, and what goes wrong in the page', async () => {
    await button(page, 'Preview').click()
    await editor(page, 'site/about.html').click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('<h1>Draft</h1><script>nowhere()</script>')
    await button(page, 'Preview').click()
    await expect.poll(heading, patiently).toBe('Draft')
    await page.getByText('1 problem: Uncaught ReferenceError: nowhere is not defined').waitFor()
    await button(page, 'Preview').click()
    await replaceText(page, editor(page, 'site/about.html'), '<h1>Net</h1><img src="https://example.com/a.png">')
    await button(page, 'Preview').click()
    await page.getByText('The preview has no network: https://example.com/a.png was not loaded').first().waitFor()
    await button(page, 'Revert').click()
  })

  it.runIf(isLong)('shows Markdown, images and SVG, and says what other files are', async () => {
    await open('guide.md')
    await button(page, 'Preview').click()
    await page.locator('.preview-text strong').getByText('bold').waitFor()
    await open('img/logo.png')
    await page.getByText('2 × 3 pixels').waitFor()
    await open('img/logo.svg')
    await button(page, 'Preview').click()
    await page.getByText('40 × 20 pixels').waitFor()
    await open('data.bin')
    await page.getByText('This file is not text (3 bytes).').waitFor()
    await open('paper.pdf')
    await page.getByTitle('Preview of paper.pdf').or(page.getByText('Download paper.pdf')).first().waitFor()
  })

  it('reaches nothing outside, whatever its page tries', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.setHeader('Access-Control-Allow-Origin', '*').end('')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const tags = [
      `<img src="${to}/img">`,
      `<img srcset="${to}/srcset 1x">`,
      `<script src="${to}/script"></script>`,
      `<script type="module">import '${to}/import'</script>`,
      `<link rel="stylesheet" href="${to}/css">`,
      ...['preload', 'prefetch', 'preconnect', 'dns-prefetch', 'modulepreload', 'icon', 'manifest'].map(
        (rel) => `<link rel="${rel}" as="script" href="${to}/${rel}">`,
      ),
      `<style>@import "${to}/import-css"; @font-face { font-family: f; src: url("${to}/font") } body { font-family: f; background: url(${to}/background) }</style>`,
      `<iframe src="${to}/frame"></iframe><object data="${to}/object"></object><embed src="${to}/embed">`,
      `<video src="${to}/video" poster="${to}/poster"></video><audio src="${to}/audio"></audio>`,
      `<form id="f" action="${to}/form" method="post"></form><a id="a" href="${to}/ping" ping="${to}/ping">x</a>`,
      `<svg><image href="${to}/svg"/><use href="${to}/use#x"/></svg><meta http-equiv="refresh" content="0; url=${to}/refresh">`,
      `<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${to}/rules"]}]}</script>`,
    ]
    const scripts = [
      `fetch('${to}/fetch')`,
      `fetch('${playground.url}own')`,
      `new Image().src = '${playground.url}own-image'`,
      `navigator.sendBeacon('${to}/beacon')`,
      `new WebSocket('${to.replace('http', 'ws')}/socket')`,
      `new EventSource('${to}/events')`,
      `{ const x = new XMLHttpRequest(); x.open('GET', '${to}/xhr'); x.send() }`,
      `new Worker('data:text/javascript,importScripts("${to}/worker")')`,
      `new Worker(URL.createObjectURL(new Blob(['fetch("${to}/blob-worker")'])))`,
      `new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:9' }] }).createDataChannel('x')`,
      `window.open('${to}/open')`,
      `document.getElementById('f').submit()`,
      `document.getElementById('a').click()`,
      `parent.location = '${to}/parent'`,
      `top.location = '${to}/top'`,
      `parent.document.title`,
      `localStorage.length`,
      `parent.postMessage({ kind: 'html', html: '<h1>taken over</h1>' }, '*')`,
      `top.postMessage({ kind: 'ready' }, '*')`,
      `location = '${to}/location'`,
    ]
    const html = `<!doctype html><h1>hostile</h1>${tags.join('\n')}<script>
globalThis.done = []
for (const script of ${JSON.stringify(scripts)}) { try { (0, eval)(script) } catch (error) { done.push(error.name) } }
</script>`
    const own: string[] = []
    // A refused request is an event too, but has no response.
    page.on('response', (response) => {
      if (/\/own/.test(response.url())) own.push(response.url())
    })
    await open('site/about.html')
    if ((await button(page, 'Preview').getAttribute('aria-pressed')) === 'true') await button(page, 'Preview').click()
    await editor(page, 'site/about.html').click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(html)
    const url = page.url()
    await button(page, 'Preview').click()
    await expect
      .poll(() => page.locator('.preview-problems').textContent(), patiently)
      .toMatch(/no network|does not leave/)
    // Time for what is tried with a delay.
    await page.waitForTimeout(1_000)
    expect(asked).toEqual([])
    expect(own).toEqual([])
    expect(page.url()).toBe(url)
    expect(page.context().pages()).toHaveLength(1)
    expect(await page.locator('.preview-frame').count()).toBe(1)
    await button(page, 'Revert').click()
  })

  it('shows no document that its page makes, and has no file that may hold secrets', async () => {
    await open('site/maker.html')
    await button(page, 'Preview').click()
    await expect.poll(() => page.locator('.preview-problems').textContent(), patiently).toMatch(/\.env/)
    await page.waitForTimeout(1_000)
    const texts = await Promise.all(
      page.frames().map((frame) => frame.evaluate(() => document.body.textContent).catch(() => '')),
    )
    expect(texts.filter((text) => /MADE|hunter2/.test(text))).toEqual([])
  })

  it('ends for a page whose text and style sheets would take an hour', async () => {
    await open('site/slow.html')
    const now = Date.now()
    if ((await button(page, 'Preview').getAttribute('aria-pressed')) === 'false') await button(page, 'Preview').click()
    await page.getByText('1 problem: The page loads more than 30 MiB of files').waitFor()
    expect(Date.now() - now).toBeLessThan(30_000)
    await button(page, 'Preview').click()
  })

  it('resolves addresses within the project only', () => {
    const cases: readonly (readonly [string, string | undefined])[] = [
      ['a.css', 'site/a.css'],
      ['./a.css?v=1#x', 'site/a.css'],
      ['../a.css', 'a.css'],
      ['../../../a.css', 'a.css'],
      ['/a.css', 'a.css'],
      ['b%20c.css', 'site/b c.css'],
      ['https://x/a.css', undefined],
      ['//x/a.css', undefined],
      ['data:text/css,', undefined],
    ]
    for (const [address, path] of cases) expect(resolvePath(address, 'site/index.html'), address).toBe(path)
  })
})

describe('a large file', () => {
  it('is shown in parts, with the right numbers of lines, and at a line', async () => {
    await open('big.log')
    await page.getByText(/shown in parts and not edited here/).waitFor()
    const part = () => page.getByRole('textbox', { name: /^Text of big\.log, part/ })
    await expect.poll(() => part().textContent(), patiently).toContain('line 1 of a log')
    await button(page, 'Part after').click()
    await page.getByText(/^Part 2 of \d+$/).waitFor()
    await page.getByRole('textbox', { name: 'Go to line' }).fill('39999')
    await page.keyboard.press('Enter')
    await expect.poll(() => part().textContent(), patiently).toContain('line 39999 of a log')
    await expect.poll(() => page.locator('.cm-lineNumbers').textContent()).toContain('39999')
  })

  it('is divided between lines and characters, without a gap', async () => {
    const texts = [
      Array.from({ length: 60_000 }, (_, at) => `é ${at}`).join('\n'),
      '😀'.repeat(200_000),
      `${'x'.repeat(300_000)}\n${'y\r\n'.repeat(200_000)}`,
      '',
    ]
    for (const text of texts) {
      const bytes = new TextEncoder().encode(text)
      const parts = (await partsOf(bytes)) ?? []
      expect(parts.map(({ start, end }) => new TextDecoder().decode(bytes.subarray(start, end))).join('')).toBe(text)
      for (const { start, firstLine } of parts) {
        expect(firstLine).toBe(new TextDecoder().decode(bytes.subarray(0, start)).split('\n').length)
      }
      const middle = parts[Math.floor(parts.length / 2)]
      if (middle === undefined || middle.breaks === 0) continue
      expect(parts[partOfLine(parts, middle.firstLine)]?.firstLine).toBe(middle.firstLine)
      expect(textOfPart(bytes, middle).split('\n').length).toBe(middle.breaks)
    }
    expect(await partsOf(Uint8Array.from([0, 1]))).toBeUndefined()
  })
})
