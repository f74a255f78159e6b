import { describe, expect, it, onTestFinished } from 'vitest'
import { importGithub } from '../../playground/outside/github.ts'
import type { FromOutside } from '../../playground/outside/messages.ts'
import { githubAddress } from '../../playground/projects/github-address.ts'
import { isLong } from '../counts.ts'
import { type GithubOptions, startGithub } from './github-server.ts'
import { patiently, projectButton, settled } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

const file = (content: string | Uint8Array, mode = '100644') => ({ mode, content })
const files = {
  'README.md': file('# Shop\n'),
  'run.sh': file('echo hi\n', '100755'),
  'src/é ü.js': file('let a\n'),
  'src/deep/logo.png': file(Uint8Array.from({ length: 300 }, (_, at) => at & 255)),
  'src/link': file('../README.md', '120000'),
  'vendor/other': file('', '160000'),
}

async function start(options: Partial<GithubOptions> = {}) {
  const server = await startGithub({ files, ...options })
  onTestFinished(() => server.close())
  const from = async (request: { readonly ref?: string; readonly token?: string; readonly repo?: string } = {}) => {
    const received: FromOutside[] = []
    const address = { owner: 'acme', repo: 'shop', api: server.url, raw: `${server.url}/raw` }
    await importGithub({ kind: 'github', token: undefined, ...address, ...request }, (message) =>
      received.push(message),
    )
    const all = received.flatMap((message) => (message.kind === 'files' ? message.files : []))
    const last = received.at(-1)
    return { all, warnings: last?.kind === 'end' ? last.warnings : undefined }
  }
  return { server, from }
}

const expected = [
  { path: 'README.md', bytes: Buffer.from('# Shop\n') },
  { path: 'run.sh', bytes: Buffer.from('echo hi\n'), mode: 0o755 },
  { path: 'src/deep/logo.png', bytes: Buffer.from(files['src/deep/logo.png'].content) },
  { path: 'src/link', bytes: Buffer.from(''), target: '../README.md' },
  { path: 'src/é ü.js', bytes: Buffer.from('let a\n') },
]
const sorted = (all: Awaited<ReturnType<Awaited<ReturnType<typeof start>>['from']>>['all']) =>
  all.map((one) => ({ ...one, bytes: Buffer.from(one.bytes) })).sort((a, b) => (a.path < b.path ? -1 : 1))

describe('the import from GitHub', () => {
  it.each([
    ['from raw files', {}, {}],
    ['by the API with a token, of a private repository', { isPrivate: true }, { token: 'good' }],
    ['directory by directory if the API cuts the tree', { cutsTrees: true }, {}],
    ['of a branch with a slash', {}, { ref: 'topic/one' }],
  ] as const)('reads every file with its mode %s', async (_, options, request) => {
    const { from } = await start(options)
    const { all, warnings } = await from(request)
    expect(sorted(all)).toEqual(expected)
    expect(warnings).toEqual(['Left out: "vendor/other", which is another repository (a submodule)'])
  })

  it('asks the API three times, whatever the number of files', async () => {
    const { server, from } = await start()
    await from()
    expect(server.asked.filter((path) => !path.startsWith('/raw'))).toHaveLength(3)
  })

  it.each([
    ['it is private and needs a token', { isPrivate: true }, {}],
    ['it is private and needs a token', {}, { repo: 'nothing' }],
    ['GitHub does not accept the token', {}, { token: 'bad' }],
    ['no branch, tag or commit “gone”', {}, { ref: 'gone' }],
    ['no more requests of this address for 10 minutes', { limit: 1 }, {}],
  ] as const)('says that %s', async (reason, options, request) => {
    const { from } = await start(options)
    await expect(from(request)).rejects.toThrow(reason)
  })

  it('recognizes the addresses of repositories, and nothing else', () => {
    const names = (text: string) => {
      const { owner, repo, ref } = githubAddress(text) ?? {}
      return owner === undefined ? undefined : `${owner} ${repo} ${ref ?? ''}`.trim()
    }
    for (const text of [
      'acme/shop',
      ' https://github.com/acme/shop.git ',
      'https://www.github.com/acme/shop/',
      'github.com/acme/shop',
      'git@github.com:acme/shop.git',
      'https://github.com/acme/shop?tab=readme#top',
    ]) {
      expect(names(text), text).toBe('acme shop')
    }
    expect(names('https://github.com/acme/shop/tree/topic/one')).toBe('acme shop topic/one')
    for (const text of [
      '',
      'acme',
      'https://gitlab.com/acme/shop',
      'https://evil.example/github.com/acme/shop',
      '../..',
      'a/b/issues/1',
    ]) {
      expect(names(text), text).toBeUndefined()
    }
  })

  it.runIf(isLong).each([
    ['acme/shop', ''],
    ['https://git.example/acme/shop', 'https://proxy.example'],
  ])(
    'of %s says without a network that the device is offline, keeps the project and tries again',
    async (url, proxy) => {
      const context = await playground.person('keeps the page')
      const page = await playground.sample('price-list', { storage: 'memory', context })
      await page.waitForFunction(() => document.documentElement.dataset.offline === 'ready')
      await context.setOffline(true)
      await projectButton(page).click()
      await page.locator('#git-url').fill(url)
      if (proxy !== '') await page.locator('#git-proxy').fill(proxy)
      await page.getByRole('button', { name: /^(Import|Clone)$/ }).click()
      const notice = page.getByRole('alert').filter({ hasText: 'this device is offline' })
      await notice.waitFor()
      expect(await notice.textContent()).toMatch(
        /^Cannot (import acme\/shop|clone https:\S+): this device is offline\. The open project stays as it is\./,
      )
      await page.getByRole('treeitem', { name: 'package.json' }).waitFor()
      if (proxy !== '') return
      const { server } = await start()
      await context.route(/^https:\/\/(api\.github|raw\.githubusercontent)\.com\//, async (route) => {
        const { host, pathname, search } = new URL(route.request().url())
        await route.fulfill({
          response: await route.fetch({
            url: `${server.url}${host.startsWith('raw') ? '/raw' : ''}${pathname}${search}`,
          }),
        })
      })
      await context.setOffline(false)
      await notice.getByRole('button', { name: 'Try again' }).click()
      await projectButton(page, 'shop').waitFor()
    },
  )

  it('makes a project in the page, without a proxy', async () => {
    const { server } = await start()
    const context = await playground.person()
    const page = await playground.sample('price-list', { storage: 'memory', context })
    await context.route(/^https:\/\/(api\.github|raw\.githubusercontent)\.com\//, async (route) => {
      const { host, pathname, search } = new URL(route.request().url())
      const url = `${server.url}${host.startsWith('raw') ? '/raw' : ''}${pathname}${search}`
      await route.fulfill({ response: await route.fetch({ url }) })
    })
    await projectButton(page).click()
    await page.locator('#git-url').fill('acme/shop')
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await projectButton(page, 'shop').waitFor()
    await settled(page)
    await page.getByRole('treeitem', { name: 'run.sh' }).waitFor()
    await expect.poll(() => page.getByText('One file was left out of the project').count(), patiently).toBe(1)
  })
})
