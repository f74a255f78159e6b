import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publishedModules } from '../test/published.ts'

/** Removes the declarations that no published module refers to: nobody can import what they describe. */
const top = join(import.meta.dirname, '..')
const dist = join(top, 'dist')
const used = new Set<string>()
for (const [, file] of publishedModules(top)) visit(join(top, file.replace(/\.js$/, '.d.ts')))
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (name.endsWith('.d.ts') && !used.has(join(dist, name))) rmSync(join(dist, name))
}

function visit(file: string): void {
  if (used.has(file)) return
  if (!existsSync(file)) throw new Error(`${file} does not exist, but a published declaration refers to it`)
  used.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, specifier = ''] of text.matchAll(/(?:\bfrom\s*|\bimport\(?\s*)['"](\.[^'"]+)['"]/g)) {
    visit(join(dirname(file), specifier.replace(/(?:\.d)?\.[jt]s$/, '.d.ts')))
  }
}
