import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf } from '../docs/blocks.ts'

const top = join(import.meta.dirname, '../..')

/** The block of a language under a heading of a guide. */
function blockUnder(guide: string, heading: string, language: string): string {
  const path = `docs/guide/${guide}.md`
  const [, section = ''] = `\n${readFileSync(join(top, path), 'utf8')}`.split(`\n${heading}\n`)
  const [block] = blocksOf(path, section.split(/^##+ /m)[0] ?? '').filter((one) => one.language === language)
  if (block === undefined) throw new Error(`${path} has no block of ${language} under "${heading}"`)
  return block.code
}

/** The commands under a heading of a guide, without comments. */
export function commandsUnder(guide: string, heading: string): string[] {
  return blockUnder(guide, heading, 'sh')
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, ''))
    .filter((line) => line !== '')
}

/** The configuration under a heading of a guide. */
export function configUnder(guide: string, heading: string, language: 'js' | 'jsonc'): string {
  return blockUnder(guide, heading, language)
}

/** The content security policy of the guide for pages. */
export function policyOfGuide(): string {
  const text = blockUnder('browser', '## Headers', 'text')
  return text
    .replace(/^Content-Security-Policy:\s*/, '')
    .replace(/\s+/g, ' ')
    .trim()
}
