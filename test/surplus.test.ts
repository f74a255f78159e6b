import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../src/backends/memory/index.ts'
import { codex } from '../src/dialects/codex/index.ts'
import { openRepository, type Repository } from '../src/git/index.ts'
import { createWorkspace } from '../src/index.ts'
import { publishedModules, sourceOf } from './published.ts'

const top = join(import.meta.dirname, '..')

type Method = (...args: readonly unknown[]) => unknown

/** Exported functions that take any number of arguments, by the reason. */
const exempt: Readonly<Record<string, string>> = {
  ...named(
    'converts or describes one value, and can be passed to map(), filter() and then()',
    'parsePath shaMap display nameOf parentOf quote ancestorsOf hashBytes sha256 sha256Async',
    'versionOf isOverlay toModelText redact diffLines fieldsOf isDialectResult',
    'formatCommandOutput formatNearestPassage newLinesOf numberLines splitLines strictGlob joinSentences',
    'aboutCall blockedInWords canHavePattern commentsInWords createPattern headlineOf isRefusal outcomeOf proposePaths',
    'questionInWords refusalInWords refusalsOf ruleInWords verdictInWords',
  ),
  ...named(
    'a part of a storage, called for each path or each part of a content',
    'applyOrder canonical canonicalSync checkChangeSet childOf createSerialQueue createSha256 isWithin linkTarget',
    'loadStoredTree planStoredCommit rangeOf sameState sameVersion stateAt storageError throwIfAborted validateChanges',
    'versionAt wrongType wrongTypeAt yieldToEventLoop applyChanges compileGlob findMatches',
  ),
  ...named(
    'a step of a dialect or of a script, of which a tool yields many',
    'call callHidden callNarrowed callTool findEntries lastShownVersion limitOr listAll listTree narrowInput readBetween',
    'readLines readPart readWhole refuseUnused renamedFields takingMedia toDialectError tryCall trySteps say',
  ),
  ...named('takes any number of arguments, each with its effect', 'joinTools calls'),
}

function named(reason: string, ...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((line) => line.split(' ')).map((name) => [name, reason]))
}

/** They need a Worker around them. */
const workers = ['./backends/opfs-worker', './shells/bash-thread']
const isClass = (value: object) => /^class\b/.test(Function.prototype.toString.call(value))
const surplus = Array.from({ length: 9 }, () => 0)

/** Returns the message of a function that is given nine arguments. */
async function messageOf(method: Method, args: readonly unknown[] = surplus): Promise<string> {
  try {
    const result = await method(...args)
    if (Symbol.iterator in Object(result)) return JSON.stringify([...(result as Iterable<unknown>)])
    return JSON.stringify(result) ?? 'undefined'
  } catch (error) {
    return error instanceof TypeError ? error.message : `not a TypeError: ${error}`
  }
}

const functions = new Map<unknown, readonly [name: string, from: string]>()
beforeAll(async () => {
  for (const [subpath, file] of publishedModules(top)) {
    if (workers.includes(subpath)) continue
    const module: Readonly<Record<string, unknown>> = await import(join(top, sourceOf(file)))
    for (const [name, value] of Object.entries(module)) {
      if (typeof value === 'function' && !isClass(value) && !functions.has(value)) functions.set(value, [name, subpath])
    }
  }
})

describe('surplus arguments', () => {
  it('are refused by every exported function, but by those with a reason', async () => {
    const taken: string[] = []
    let refused = 0
    for (const [value, [name, subpath]] of functions) {
      if (Object.hasOwn(exempt, name)) continue
      const message = await messageOf(value as Method)
      if (/^\w+\(\) takes (no|at most \d|one) arguments?[,]/.test(message) && message.startsWith(`${name}()`))
        refused += 1
      else taken.push(`${name} of ${subpath}: ${message}`)
    }
    expect(taken).toEqual([])
    expect(refused).toBeGreaterThan(110)
  })

  it('have no exception that is not needed', () => {
    const names = [...functions.values()].map(([name]) => name)
    expect(Object.keys(exempt).filter((name) => !names.includes(name))).toEqual([])
  })

  it('that are undefined are absent', () => {
    const create = memory as Method
    expect(create({}, undefined, undefined, undefined)).toBeDefined()
    expect(() => create({}, undefined, undefined, null)).toThrow('memory() takes at most 2 arguments, not 4')
  })
})

/** Messages of V8, which name no parameter, and paths into an argument. */
const unnamed = /Cannot (read|destructure)|is not (a function|iterable)|Argument "\w+\./

describe('a wrong first argument', () => {
  it('is refused with the name of the parameter by every exported function, but by those that describe a value', async () => {
    const wrong: string[] = []
    let refused = 0
    for (const [value, [name, subpath]] of functions) {
      if (Object.hasOwn(exempt, name) && !name.startsWith('create')) continue
      for (const argument of [undefined, null, 5, {}, { nonsense: 1 }]) {
        const message = await messageOf(value as Method, [argument])
        if (/^(Argument|Option|The options) /.test(message)) refused += 1
        if (unnamed.test(message)) wrong.push(`${name}(${JSON.stringify(argument)}) of ${subpath}: ${message}`)
      }
    }
    expect(wrong).toEqual([])
    expect(refused).toBeGreaterThan(400)
  })
})

/** Objects whose methods refuse surplus arguments. */
const opened = {
  async workspace() {
    return createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous' })
  },
  async run() {
    return (await this.workspace()).run()
  },
  async fork() {
    return (await this.workspace()).fork()
  },
  async dialect() {
    return createWorkspace({ backend: memory(), policy: 'autonomous', dialect: codex() })
  },
  async 'run of a dialect'() {
    return (await this.dialect()).run()
  },
  async 'own calls of a dialect'() {
    return (await this.dialect()).own
  },
  async repository(): Promise<Repository> {
    const change = async () => {}
    return openRepository({ backend: memory(), mayRead: () => true, change } as never)
  },
}

describe.each(Object.keys(opened) as (keyof typeof opened)[])('surplus arguments of the methods of a %s', (kind) => {
  it('are refused, as the method refuses others', async () => {
    const object = (await opened[kind]()) as unknown as Readonly<Record<string, unknown>>
    const names = Object.keys(object).filter((name) => typeof object[name] === 'function')
    expect(names.length).toBeGreaterThan(3)
    for (const name of names) {
      const first = name === 'consult' ? ['policy'] : []
      const message = await messageOf(object[name] as Method, [...first, ...surplus])
      expect(message, name).toMatch(
        new RegExp(`${name.replace('Tool', '(Tool)?')}\\(\\) takes (no|at most \\d) arguments?,`),
      )
      // The methods that answer with a result do so here as well.
      const answers = /^(call|callTool|undo|rollback|commit|merge|resume|consult)$/.test(name)
      if (kind !== 'repository' && answers) expect(message, name).toContain('INVALID_INPUT')
    }
    await (object.close as (() => Promise<void>) | undefined)?.()
  })
})

describe('a call with surplus arguments', () => {
  it('changes nothing, and is recorded as refused', async () => {
    const workspace = await opened.workspace()
    const call = workspace.callTool as Method
    expect(await call('write_file', { path: 'a.txt', content: 'b' }, {}, { dryRun: true })).toMatchObject({
      ok: false,
      code: 'INVALID_INPUT',
      message: 'callTool() takes at most 3 arguments, not 4',
    })
    expect((await workspace.files.read('a.txt')).content).toBe('a\n')
    expect(workspace.auditRecords()[0]).toMatchObject({ phase: 'refused', code: 'INVALID_INPUT' })
  })

  it.each([
    ['media', true],
    ['onProgress', () => {}],
  ] as const)('or with %s where it has no effect, is refused', async (option, value) => {
    const workspace = (await opened.workspace()) as unknown as Readonly<Record<string, Method>>
    for (const [name, ...args] of [['undo', 'x'], ['rollback', 'x'], ['commit'], ['merge'], ['consult', 'policy']]) {
      expect(await workspace[name as string]?.(...args, { [option]: value }), name).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(`Option "${option}" of ${name}() is unknown`),
      })
    }
  })

  it('of notifyExternalChange is refused, also if it is an empty text', async () => {
    const workspace = await opened.workspace()
    for (const wrong of ['', 0, null, false]) {
      expect(() => workspace.notifyExternalChange(wrong as never)).toThrow('must be a list')
    }
  })
})
