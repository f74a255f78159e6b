import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vitepress'
import { writeReference } from './reference.mjs'
import { toolsPage } from './tools.mjs'

// Puts the pages together in `pages/`, from what stands in `docs/` and from the sources; VitePress makes the site of them. It
// fails where a link leads nowhere.
const site = import.meta.dirname
const top = join(site, '../..')
const pages = join(site, 'pages')

rmSync(pages, { recursive: true, force: true })
mkdirSync(pages, { recursive: true })
for (const entry of readdirSync(join(top, 'docs'))) {
  if (entry !== 'site') cpSync(join(top, 'docs', entry), join(pages, entry), { recursive: true })
}
// JSON is YAML, too.
writeFileSync(join(pages, 'index.md'), `---\n${readFileSync(join(site, 'home.json'), 'utf8')}---\n`)
cpSync(join(top, 'CHANGELOG.md'), join(pages, 'changelog.md'))
writeFileSync(join(pages, 'tools.md'), await toolsPage(top))
const subpaths = await writeReference({ top, out: join(pages, 'api') })
writeFileSync(join(pages, 'subpaths.json'), JSON.stringify(subpaths))
await build(site)
