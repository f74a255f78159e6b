import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { publishedModules } from '../test/published.ts'
import { isExternal } from './bundle-packages.ts'
import { shortenDeclarationMappings } from './shorten-map.ts'

/**
 * Keeps the declarations that a published module refers to: nobody can import what the others describe. The declarations of packages
 * that the build contains are copied, so that the types need no other installed package.
 */
const top = join(import.meta.dirname, '..')
const dist = join(top, 'dist')
const COPIES = join(dist, 'packages')
const REFERENCE = /(\bfrom\s*|\bimport\(?\s*)(['"])([^'"]+)\2/g
const used = new Set<string>()
for (const [, file] of publishedModules(top)) visit(join(top, file.replace(/\.js$/, '.d.ts')))
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!/\.d\.ts(\.map)?$/.test(name)) continue
  const file = join(dist, name)
  if (!used.has(file.replace(/\.map$/, ''))) rmSync(file)
  else if (name.endsWith('.map')) shortenMap(file)
}

function shortenMap(file: string): void {
  const { sourceRoot: _, names: __, file: ___, ...map } = JSON.parse(readFileSync(file, 'utf8'))
  const declaration = readFileSync(file.replace(/\.map$/, ''), 'utf8')
  writeFileSync(file, JSON.stringify({ ...map, mappings: shortenDeclarationMappings(map.mappings, declaration) }))
}

function visit(file: string): void {
  if (used.has(file)) return
  used.add(file)
  const source = sourceOf(file)
  if (!existsSync(source)) throw new Error(`${source} does not exist, but a published declaration refers to it`)
  const written = readFileSync(source, 'utf8')
  const text = withoutBlanks(source === file ? written : withoutUnused(written)).replace(
    REFERENCE,
    (whole, before, quote, specifier) => {
      const declaration = declarationOf(file, specifier)
      if (declaration === undefined) return whole
      visit(declaration)
      if (specifier.startsWith('.')) return whole
      const path = relative(dirname(file), declaration).replace(/\.d\.ts$/, '.js')
      return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
    },
  )
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/**
 * Returns a declaration with a tab for each four spaces at the start of its lines, and without a semicolon at their end where the next line
 * begins with a word or a bracket that closes.
 */
function withoutBlanks(text: string): string {
  return text
    .replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4))
    .replace(/^(?!\s*\*)(.*);$(?=\n\s*[\w}/])/gm, '$1')
}

/**
 * Returns a declaration of a package without its comments, which only make the package larger, without the address of its map,
 * which is not contained, and without zod's messages in other languages and functions of its core, which no type names. Comments
 * with directives for the compiler stay.
 */
function withoutUnused(text: string): string {
  return text
    .replace(/^export \* as locales from .*\n/gm, '')
    .replace(/^export declare function _.*;\n/gm, '')
    .replace(/^export \{[^{}]*\b_\w+ as [^{}]*\}/gm, 'export {}')
    .replace(/^[ \t]*\/\*\*[\s\S]*?\*\/[ \t]*\n/gm, (comment) => (comment.includes('@ts-') ? comment : ''))
    .replace(/^\/\/# sourceMappingURL=.*\n?/gm, '')
}

/** Returns the file from which a declaration is written: itself, or the declaration of a package. */
function sourceOf(file: string): string {
  return file.startsWith(COPIES) ? join(top, 'node_modules', relative(COPIES, file)) : file
}

/** Returns the declaration that a specifier refers to, or undefined for a package that is not contained. */
function declarationOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(file), specifier.replace(/(?:\.d)?\.[jt]s$/, '.d.ts'))
  if (isExternal(specifier)) return undefined
  const [, name = '', subpath = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) ?? []
  const { exports } = JSON.parse(readFileSync(join(top, 'node_modules', name, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly import?: string; readonly default?: string }>>
  }
  const entry = exports[`.${subpath}`]
  const module = entry?.import ?? entry?.default
  if (module === undefined) throw new Error(`${file} refers to ${specifier}, which the package ${name} does not export`)
  return join(COPIES, name, module.replace(/\.js$/, '.d.ts'))
}
