/**
 * Reports the counters of instrumented code in one realm (a page, a worker, a thread, another runtime) while it runs, since
 * realms may end without notice. Each counter is reported once, when it is first above zero.
 */

interface Counts {
  readonly s: Record<string, number>
  readonly f: Record<string, number>
  readonly b: Record<string, Record<string, number>>
}

/** Counters by file, each named like `s/12`, `f/3` or `b/4/1`: a statement, a function, an arm of a branch. */
export type Told = Record<string, string[]>

declare global {
  var __coverage__: Record<string, Counts> | undefined
  /** Reports the current counters. In workerd, which cannot report between calls, a test must call it. */
  var tellCoverage: (() => Promise<unknown>) | undefined
}

const EVERY_MS = 100

/** Starts reporting: to a file if there is a file system, otherwise to a URL. */
export function tellWhatRuns(file: string, address: string): void {
  if (globalThis.tellCoverage !== undefined) return
  const tellNow = senderAtOnce(file, address)
  const news = createNews()
  if (tellNow === undefined) {
    globalThis.tellCoverage = async () => fetch(address, { method: 'POST', body: news() ?? '{}' })
    return
  }
  const tell = () => {
    const reported = news()
    if (reported !== undefined) tellNow(reported)
  }
  globalThis.tellCoverage = async () => tell()
  const timer: { unref?(): void } | number = setInterval(tell, EVERY_MS)
  if (typeof timer === 'object') timer.unref?.()
  globalThis.process?.on?.('exit', tell)
  // The receiver of a message may end the thread or worker that sent it.
  for (const kind of ['MessagePort', 'DedicatedWorkerGlobalScope']) before(Reflect.get(globalThis, kind), tell)
}

/** Returns a synchronous way to report, if there is one. */
function senderAtOnce(file: string, address: string): ((message: string) => void) | undefined {
  const files = globalThis.process?.getBuiltinModule?.('node:fs')
  if (files !== undefined) return (text) => files.appendFileSync(file, `${text}\n`)
  if (typeof XMLHttpRequest === 'undefined') return undefined
  return (output) => {
    const request = new XMLHttpRequest()
    request.open('POST', address, false)
    try {
      request.send(output)
    } catch {
      // The page is offline, or is being closed.
    }
  }
}

/** Returns the counters above zero that were not returned before. */
function createNews(): () => string | undefined {
  const waiting = new Map<string, Counter[]>()
  return () => {
    const report: Told = {}
    for (const [file, counts] of Object.entries(globalThis.__coverage__ ?? {})) {
      const left = waiting.get(file) ?? countersOf(counts)
      const matches = left.filter(isAboveZero)
      if (matches.length > 0) report[file] = matches.map(({ name }) => name)
      waiting.set(file, matches.length === 0 ? left : left.filter((one) => !matches.includes(one)))
    }
    return Object.keys(report).length === 0 ? undefined : JSON.stringify(report)
  }
}

interface Counter {
  readonly name: string
  readonly among: Readonly<Record<string, number>>
  readonly at: string
}

function countersOf({ s, f, b }: Counts): Counter[] {
  const all = (kind: string, among: Readonly<Record<string, number>>) =>
    Object.keys(among).map((at) => ({ name: `${kind}/${at}`, among, at }))
  const arms = Object.entries(b).flatMap(([id, counts]) => all(`b/${id}`, counts))
  return [...all('s', s), ...all('f', f), ...arms]
}

function isAboveZero({ among, at }: Counter): boolean {
  return (among[at] ?? 0) > 0
}

function before(kind: { prototype: { postMessage(...args: unknown[]): void } } | undefined, tell: () => void): void {
  const post = kind?.prototype.postMessage
  if (kind === undefined || post === undefined) return
  kind.prototype.postMessage = function (...args) {
    tell()
    post.apply(this, args)
  }
}
