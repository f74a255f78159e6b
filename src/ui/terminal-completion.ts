/** How a line can go on. */
export interface Completion {
  /** What all candidates add to the line. */
  readonly added: string
  /** The candidates, if there is more than one. */
  readonly candidates: readonly string[]
}

/** The files that a completion looks at. Paths are those of the project, and empty for the project itself. */
export interface TerminalFiles {
  /** Returns the entries of a directory; none if it cannot be listed. */
  list(path: string): Promise<readonly { readonly name: string; readonly type: string }[]>
  /** Returns the text of a file; empty if it cannot be read. */
  read(path: string): Promise<string>
}

/** Where a line is entered. */
export interface Place {
  readonly files: TerminalFiles
  /** The terminal's directory, empty for the project itself. */
  readonly cwd: string
  /** The path under which the commands see the project. */
  readonly root: string
}

const commands =
  'awk base64 basename bash cat cd clear column comm cp cut date diff dirname du echo egrep env expand export expr false fgrep file find fold git grep gunzip gzip head help history hostname jq join ln ls md5sum mkdir mv nl node npm od paste patch printf pwd read readlink rev rg rm rmdir sed seq set sha1sum sha256sum sleep sort source split stat strings tac tail tar tee test time timeout touch tr tree true type uniq unset wc which xargs yq zcat'.split(
    ' ',
  )
const gitCommands = 'add branch checkout clone commit diff init log reset restore rev-parse show status switch'.split(
  ' ',
)
const npmCommands = ['run', 'start', 'stop', 'test']

/** Completes the last word before the cursor: a command, a path, an npm script, a git command or a branch. */
export async function completeLine(before: string, place: Place): Promise<Completion> {
  const words = wordsOf(before)
  const word = words.at(-1) ?? ''
  const candidates = await candidatesFor(words, place)
  const fitting = [...new Set(candidates)].filter((candidate) => candidate.startsWith(word)).sort()
  const [only] = fitting
  if (only === undefined) return { added: '', candidates: [] }
  const common = fitting.reduce(commonStart)
  const end = fitting.length === 1 && !only.endsWith('/') ? ' ' : ''
  const added = `${quoted(common.slice(word.length))}${end}`
  return { added, candidates: fitting.length === 1 ? [] : fitting.map((name) => name.replace(/^.*\/(?=.)/s, '')) }
}

async function candidatesFor(words: readonly string[], place: Place): Promise<readonly string[]> {
  const [command, ...args] = words
  const word = words.at(-1) ?? ''
  if (args.length === 0) return /[/.~]/.test(word) ? paths(word, place) : commands
  if (command === 'npm') {
    if (args.length === 1) return npmCommands
    if (args[0] === 'run') return scripts(place)
  }
  if (command === 'git') {
    if (args.length === 1) return gitCommands
    if (/^(?:checkout|switch|branch|diff|log|show|reset|restore|rev-parse)$/.test(args[0] ?? '')) {
      return [...(await branches(place)), ...(args[0] === 'switch' ? [] : await paths(word, place))]
    }
  }
  const found = await paths(word, place)
  return command === 'cd' || command === 'rmdir' ? found.filter((path) => path.endsWith('/')) : found
}

/** Splits the command that is being typed into words, as bash reads them. The last one may be empty. */
function wordsOf(before: string): string[] {
  let words = ['']
  for (const [part] of before.matchAll(/\\.|'[^']*'?|"(?:\\.|[^"\\])*"?|\s+|&&|\|\||[;|&(]|[^\s\\'";|&(]+/g)) {
    if (/^[;|&(]/.test(part)) words = ['']
    else if (/^\s/.test(part)) {
      if (words.length > 1 || words[0] !== '') words.push('')
    } else words[words.length - 1] += plain(part)
  }
  // Assignments before the command.
  while (words.length > 1 && /^\w+=/.test(words[0] ?? '')) words.shift()
  return words
}

function plain(part: string): string {
  if (part.startsWith("'")) return part.replaceAll("'", '')
  if (part.startsWith('"')) return part.slice(1).replace(/"$/, '').replace(/\\(.)/g, '$1')
  return part.startsWith('\\') ? part.slice(1) : part
}

const quoted = (text: string) => text.replace(/[^\w./@:+,%=-]/g, '\\$&')

function commonStart(a: string, b: string): string {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return a.slice(0, length)
}

/** Resolves a path of the terminal to one of the project; undefined outside of it. */
function resolve(path: string, { cwd, root }: Pick<Place, 'cwd' | 'root'>): string | undefined {
  const start = ['~', root.replace(/\/$/, '')].find((one) => path === one || path.startsWith(`${one}/`))
  const inProject = path.slice(start?.length ?? 0)
  if (start === undefined && path.startsWith('/')) return undefined
  const names = start === undefined ? cwd.split('/') : []
  for (const name of inProject.split('/')) {
    if (name === '..') {
      if (names.pop() === undefined) return undefined
    } else if (name !== '.') names.push(name)
  }
  return names.filter((name) => name !== '').join('/')
}

async function paths(word: string, place: Place): Promise<string[]> {
  const start = word.slice(0, word.lastIndexOf('/') + 1)
  const directory = resolve(start, place)
  if (directory === undefined) return []
  const entries = await place.files.list(directory)
  const isHidden = word.slice(start.length).startsWith('.')
  return entries
    .filter(({ name }) => isHidden || !name.startsWith('.'))
    .map(({ name, type }) => `${start}${name}${type === 'directory' ? '/' : ''}`)
}

async function scripts({ files, cwd }: Place): Promise<string[]> {
  const own = await files.read(cwd === '' ? 'package.json' : `${cwd}/package.json`)
  try {
    const { scripts: named } = JSON.parse(own || (await files.read('package.json'))) as {
      scripts?: object
    }
    return Object.keys(named ?? {})
  } catch {
    return []
  }
}

async function branches({ files }: Place): Promise<string[]> {
  const heads = async (directory: string): Promise<string[]> => {
    const entries = await files.list(`.git/refs/heads${directory}`)
    const names = entries.map(({ name, type }) =>
      type === 'directory' ? heads(`${directory}/${name}`) : [`${directory}/${name}`.slice(1)],
    )
    return (await Promise.all(names)).flat()
  }
  const packed = await files.read('.git/packed-refs')
  return [...(await heads('')), ...[...packed.matchAll(/ refs\/heads\/(.+)$/gm)].map(([, name = '']) => name)]
}

/** Returns the file that a name in an output means, seen from the terminal's directory or from the project. */
export async function existingFile(name: string, { files, cwd, root }: Place): Promise<string | undefined> {
  for (const from of new Set([cwd, ''])) {
    const path = resolve(name, { cwd: from, root })
    if (path === undefined || path === '') continue
    const at = path.lastIndexOf('/')
    const entries = await files.list(path.slice(0, Math.max(at, 0)))
    if (entries.some((entry) => entry.type === 'file' && entry.name === path.slice(at + 1))) return path
  }
  return undefined
}
