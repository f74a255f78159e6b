import { ToolError } from '../errors.ts'
import { concatBytes } from '../util/bytes.ts'
import { createPacer } from '../util/pacer.ts'
import { FLUSH, pktLine, pktLines } from './pkt-line.ts'
import { isRefName } from './ref-name.ts'

/** Branches of a server that are fetched at once. Each one becomes a file. */
const MAX_BRANCHES = 100_000

/** What a fetch takes of the refs that a server names. */
export interface RefSelection {
  /** The only branch or ref that is fetched. Default: all branches. */
  readonly ref?: string | undefined
  /** Called with each name that git, or a workspace, does not allow. */
  readonly onLeftOut: (name: string) => void
}

/**
 * Reduces the list of refs of a server to those that a fetch needs. As in git, a name that is not allowed is left out, and
 * the fetch goes on.
 *
 * @param list the answer to `info/refs`. An answer of another kind passes unchanged
 * @throws ToolError `LIMIT_EXCEEDED` for more branches than are fetched at once
 */
export async function selectRefs(list: Uint8Array, { ref: wanted, onLeftOut }: RefSelection): Promise<Uint8Array> {
  if (!/^[0-9a-f]{4}/.test(decoder.decode(list.subarray(0, 4)))) return list
  const pace = createPacer()
  const kept: string[] = []
  const service: string[] = []
  let capabilities: string | undefined
  for (const line of pktLines(list)) {
    await pace()
    const text = line === null ? '' : decoder.decode(line).replace(/\n$/, '')
    if (capabilities === undefined && !text.includes('\0')) {
      if (line !== null) service.push(text)
      continue
    }
    const [entry = '', abilities] = text.split('\0')
    capabilities ??= abilities
    const name = entry.slice(41)
    if (!mayBeFetched(name, wanted)) continue
    if (name !== 'HEAD' && !isRefName(name)) onLeftOut(name)
    else kept.push(entry)
    if (kept.length > MAX_BRANCHES) throw tooManyBranches()
  }
  const head = service.map((line) => pktLine(`${line}\n`))
  if (capabilities === undefined) return concatBytes(head)
  const [first = NO_REFS, ...rest] = kept
  const refs = [`${first}\0${withoutBadTargets(capabilities)}`, ...rest]
  return concatBytes([...head, FLUSH, ...refs.map((line) => pktLine(`${line}\n`)), FLUSH])
}

/** What git names instead of the first ref when there is none. */
const NO_REFS = `${'0'.repeat(40)} capabilities^{}`

const decoder = new TextDecoder()

function mayBeFetched(name: string, wanted: string | undefined): boolean {
  if (name === 'HEAD') return true
  if (wanted === undefined) return name.startsWith('refs/heads/')
  return ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].some((prefix) => name === prefix + wanted)
}

/** A branch that HEAD names is written, too. */
function withoutBadTargets(capabilities: string): string {
  const isGood = (one: string) => !one.startsWith('symref=') || isRefName(one.slice(one.indexOf(':') + 1))
  return capabilities.split(' ').filter(isGood).join(' ')
}

function tooManyBranches(): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `Cannot fetch: the server has more than ${MAX_BRANCHES} branches`, {
    limit: 'branches of a fetch',
    value: MAX_BRANCHES,
    hint: 'Fetch one branch by its name.',
  })
}
