import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'

const top = join(import.meta.dirname, '../..')

/** Returns the dead links of a page: to a missing file, or to a missing heading. */
export function deadLinks(path: string, pages: ReadonlyMap<string, string>): readonly string[] {
  return linksOf(pages.get(path) ?? '').filter((link) => {
    const [file = '', heading] = link.split('#')
    const target = file === '' ? path : posix.join(posix.dirname(path), file)
    // The site contains only docs/.
    if (path.startsWith('docs/') && !target.startsWith('docs/')) return true
    if (!pages.has(target) && !existsSync(join(top, target))) return true
    const page = pages.get(target)
    return heading !== undefined && (page === undefined || !headingsOf(page).has(heading))
  })
}

/** Returns the links inside the repository. Links to other sites are not checked, so that the test needs no network. */
function linksOf(text: string): readonly string[] {
  const prose = withoutCode(text)
  return [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
    .map(([, link, attribute]) => link ?? attribute ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))
}

/** Returns the anchors of a page's headings, as forges and VitePress generate them. */
function headingsOf(text: string): ReadonlySet<string> {
  const headings = [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  )
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}
