import type { TerminalLine } from '../../ui/terminal.ts'
import { colouredOutput, hasEnded } from './output-colours.ts'
import { sentence } from './sentences.ts'

const RESET = '\x1b[0m'

export const grey = (text: string) => `\x1b[90m${text}${RESET}`
const red = (text: string) => `\x1b[31m${text}${RESET}`
const blue = (text: string) => `\x1b[34m${text}${RESET}`

/** The prompt in a directory. */
export function promptOf(root: string, cwd: string): string {
  const path = cwd === '.' || cwd === '' ? root : `${root.replace(/\/$/, '')}/${cwd}`
  return `${blue(path)} $ `
}

/** The prompt of a line with its command. */
export function startOf(root: string, { actor, cwd, command }: TerminalLine): string {
  return `${actor === 'person' ? promptOf(root, cwd) : `${grey(`${actor} $`)} `}${command}\n`
}

/** A line as a terminal prints it. The text grows until the line has ended, and never changes otherwise. */
export function textOf(root: string, line: TerminalLine): string {
  const { output, exitCode, refused, notes } = line
  const printed = `${startOf(root, line)}${colouredOutput(line)}`
  if (!hasEnded(line)) return printed
  const end = output === '' ? '' : /\n(?:\x1b\[0m)?$/.test(output) ? RESET : `${RESET}\n`
  const parts = [
    ...(exitCode === undefined || exitCode === 0 ? [] : [grey(`exit ${exitCode}`)]),
    ...refused.map((text) => red(sentence(text))),
    ...notes.map((text) => grey(sentence(text))),
  ]
  return `${printed}${end}${parts.map((part) => `${part}\n`).join('')}`
}
