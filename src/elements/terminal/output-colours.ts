import type { TerminalLine } from '../../ui/terminal.ts'

/** Colours what follows a given start of each line. */
type Painter = (line: string) => string

/** Characters that are coloured. Later ones stay as they are, so that a long output takes no time. */
const MAX_COLOURED = 40_000

const paint = (code: number) => (text: string) => `\x1b[${code}m${text}\x1b[0m`
const [bold, red, green, yellow, blue] = [1, 31, 32, 33, 34].map(paint) as [Painter, Painter, Painter, Painter, Painter]

function byPattern(rules: readonly (readonly [RegExp, Painter])[]): () => Painter {
  return () => (line) => rules.find(([pattern]) => pattern.test(line))?.[1](line) ?? line
}

const gitChanges = byPattern([
  [/^(?:diff --git |index |--- |\+\+\+ )/, bold],
  [/^commit [0-9a-f]{7,}/, yellow],
  [/^@@ /, blue],
  [/^\+/, green],
  [/^-/, red],
])

/** As git does: green is what the next commit contains, red what it does not. */
const gitStatus = () => {
  let isStaged = false
  return (line: string) => {
    if (/^\S.*:$/.test(line)) isStaged = line.startsWith('Changes to be committed')
    return line.startsWith('\t') ? `\t${(isStaged ? green : red)(line.slice(1))}` : line
  }
}

const tests = byPattern([
  [/^\s*✔/, green],
  [/^\s*✖/, red],
  [/^ℹ/, blue],
])

/** Folders are blue: in a long list by its first letter, else by the folders that the line found. */
const list = ({ folders = [] }: Pick<TerminalLine, 'folders'>) => {
  const names = new Set(folders)
  return (line: string) => {
    const [, facts, name = ''] = /^(d[rwxsStT-]{9}\s.*\s)(\S+)$/.exec(line) ?? []
    if (facts !== undefined) return `${facts}${blue(name)}`
    return names.has(line) ? blue(line) : line
  }
}

const painters: readonly (readonly [command: RegExp, create: (line: TerminalLine) => Painter])[] = [
  [/^git (?:diff|show|log)\b/, gitChanges],
  [/^git status\b/, gitStatus],
  [/^git branch\b/, byPattern([[/^\* /, green]])],
  [/^(?:npm (?:t|test|run test\S*)|node --test)\b/, tests],
  [/^ls\b/, list],
]

/** Whether nothing is added to the output of a line. */
export function hasEnded({ isRunning, exitCode, refused }: TerminalLine): boolean {
  return !isRunning || exitCode !== undefined || refused.length > 0
}

/** The output of git, of tests and of `ls` with the colours that they have in a terminal. What is complete does not change when more comes. */
export function colouredOutput(line: TerminalLine): string {
  const { command, output } = line
  const last = command.split(/;|&&/).at(-1)?.trim() ?? ''
  const create = /[|>]/.test(last) ? undefined : painters.find(([pattern]) => pattern.test(last))?.[1]
  if (create === undefined) return output
  const painter = create(line)
  const rows = output.slice(0, MAX_COLOURED).split('\n')
  // A row without its end may be the begin of one that has a colour.
  const rest = rows.pop() ?? ''
  const isOpen = !hasEnded(line) && output.length <= MAX_COLOURED
  const colours = rows.map((row) => `${row.includes('\x1b') ? row : painter(row)}\n`).join('')
  return `${colours}${isOpen ? '' : rest}${output.slice(MAX_COLOURED)}`
}
