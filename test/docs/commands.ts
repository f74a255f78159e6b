import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const top = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
/** The output of `wardspace help`. */
const usage = /const usage = `([\s\S]*?)`\n/.exec(readFileSync(join(top, 'src/cli/usage.ts'), 'utf8'))?.[1] ?? ''

/** One command, split into words. */
export type Words = readonly string[]

/** Returns the commands of a `sh` block without comments. A backslash continues a line. */
export function commandsOf(code: string): readonly Words[] {
  return code
    .replace(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line) => separated(wordsOf(line)))
    .filter((words) => words.length > 0)
}

/** Returns the words after `npx wardspace`, or undefined for another command. */
export function ownWords([program, name, ...words]: Words): Words | undefined {
  return program === 'npx' && name === 'wardspace' ? words : undefined
}

/** Returns the error of a command: an unknown script, or a command or option that `wardspace help` does not list. */
export function wrongIn(words: Words): string | undefined {
  const [program, name = '', script = ''] = words
  const own = ownWords(words)
  if (own !== undefined) return wrongInOwn(own)
  if (program !== 'npm') return undefined
  const scriptName = name === 'run' ? script : name
  if (['ci', 'i', 'install', 'pkg'].includes(scriptName)) return undefined
  return scripts[scriptName] === undefined ? `package.json has no script "${scriptName}"` : undefined
}

function wrongInOwn([command = '', ...words]: Words): string | undefined {
  if (!new RegExp(`^ {2}wardspace ${command}\\b`, 'm').test(usage)) return `There is no command "${command}"`
  const options = words.filter((word) => word.startsWith('--')).map((word) => word.replace(/=.*/, ''))
  const unknown = options.find((option) => !new RegExp(`${option}\\b`).test(usage))
  return unknown === undefined ? undefined : `"wardspace help" does not list the option ${unknown}`
}

/** Splits `a && b` into two commands. */
function separated(words: Words): readonly Words[] {
  const at = words.indexOf('&&')
  return at < 0 ? [words] : [words.slice(0, at), ...separated(words.slice(at + 1))]
}

function wordsOf(line: string): Words {
  const words = [...line.matchAll(/'[^']*'|"[^"]*"|#.*|[^\s'"]+/g)].map(([word]) => word)
  const end = words.findIndex((word) => word.startsWith('#'))
  return words.slice(0, end < 0 ? undefined : end).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'))
}
