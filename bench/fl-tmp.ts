import { startPlayground } from '../test/playground/open.ts'
const playground = await startPlayground()
const person = await playground.person()
const page = await person.newPage()
await page.goto(playground.url)
await page.getByRole('treeitem').first().waitFor()
await page.waitForLoadState('networkidle')
const r = await page.evaluate(() => (performance.getEntriesByType('resource') as any[]).concat(performance.getEntriesByType('navigation')).map(e => [e.name.split('/').pop(), e.transferSize, Math.round(e.startTime), e.initiatorType]))
let s = 0
for (const x of r.sort((a: any,b: any)=>b[1]-a[1])) { s += x[1]; if (x[1] > 12000) console.log(x[1], x[0], x[2], x[3]) }
console.log(s, r.length)
const mono: string[] = await page.evaluate(`(() => { const out = []; const todo = [document]; while (todo.length) { const root = todo.pop(); for (const e of root.querySelectorAll('*')) { if (e.shadowRoot) todo.push(e.shadowRoot); if ([...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) && getComputedStyle(e).fontFamily.includes('JetBrains')) out.push(e.outerHTML.slice(0, 200)) } } return out })()`)
console.log(mono.join('\n'))
await page.screenshot({ path: '/tmp/first.png' })
await playground.close()
