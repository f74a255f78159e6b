import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { bash } from 'wardspace/shells/bash'
import { describeError } from '../../playground/agent/describe-error.ts'
import { errorInWords } from '../../playground/agent/error-words.ts'
import { failureInWords } from '../../playground/session/failure-words.ts'
import { whatLeaves } from '../../playground/session/model.ts'
import { summaryOf } from '../../playground/session/search.ts'
import { endTitle } from '../../playground/session/turn-words.ts'
import { type ErrorCode, errorHints, type Failure } from '../../src/errors.ts'
import { sha256 } from '../../src/files/hash/sha256.ts'
import { labelNames } from '../../src/policy/labels.ts'
import { permissions } from '../../src/policy/permissions.ts'
import { presetNames } from '../../src/policy/presets.ts'
import { riskFlags } from '../../src/policy/risk/flags.ts'
import { shortForms } from '../../src/policy/short-forms.ts'
import { bytesOf } from '../../src/testing/backend/case.ts'
import { readPolicy } from '../../src/ui/read-policy.ts'
import { questionInWords } from '../../src/ui/words/approval-words.ts'
import { aboutCall, outcomeOf } from '../../src/ui/words/call-words.ts'
import { codeWords } from '../../src/ui/words/code-words.ts'
import { blockedInWords, headlineOf, refusalInWords } from '../../src/ui/words/person-words.ts'
import {
  decisionWords,
  labelWords,
  protectionWords,
  ruleInWords,
  verdictInWords,
} from '../../src/ui/words/verdict-words.ts'

const codes = Object.keys(errorHints) as ErrorCode[]

/** What the engine says to models: codes, names of tools and of their fields, and its orders. */
const forModels =
  /[A-Z]{2,}_[A-Z_]+|\b[a-z]+_[a-z]+\b|oldText|replaceAll|timeoutMs|do not retry|Submit a plan|Read the file again|call again|Report this|Correct the|Narrow the/

const sentences: (readonly [string, string])[] = []

it('an answer in another form than that of the provider is described for a person', () => {
  const model = { address: 'http://localhost:1/v1', page: 'http://localhost', hasKey: true, hasBegun: false }
  for (const message of ['JSON parsing failed: Text: {no', 'Response stream ended without a finish reason.']) {
    expect(errorInWords({ message }, model)).toMatch(/^The server answered in another form.*Check provider and address/)
  }
})

it('a search counts what it has found, and nothing else', () => {
  expect([summaryOf(0, 7, false), summaryOf(2, 1, false), summaryOf(1, 0, false)]).toEqual([
    ...['7 lines', '2 file names, 1 line', '1 file name'],
  ])
  expect([summaryOf(1, 200, true), summaryOf(0, 0, false)]).toEqual([
    '1 file name, the first 200 lines',
    'Nothing found',
  ])
})

it.each(codes)('a failed action of the person with %s has advice for the person', (code) => {
  const failure = { code, message: 'Cannot save "a.txt"', hint: errorHints[code] }
  expect(failureInWords(failure)).not.toMatch(forModels)
  expect(failureInWords(failure)).toContain(codeWords[code].why)
  expect(failureInWords({ ...failure, hint: 'Press the button.' })).toContain('Press the button.')
})

it.each(['[]', 'null', '5', 'true'])('a policy that is %s is described for a person', (text) => {
  expect(readPolicy(text)).toMatchObject({ ok: false, message: expect.stringMatching(/^A policy is written between/) })
})

it('names no server before a model is chosen', () => {
  const pick = { kind: 'endpoint', provider: 'anthropic', baseUrl: '' } as const
  expect(whatLeaves({ ...pick, model: '' })).toBe('What the agent reads goes to your model')
  expect(whatLeaves({ ...pick, model: 'm' })).toContain('api.anthropic.com')
})

it('a server that asks for a key is told apart from one that refuses it', () => {
  const model = { address: 'http://localhost:1/v1', page: 'http://localhost', hasKey: false, hasBegun: false }
  expect(errorInWords({ message: '401: no' }, model)).toMatch(/^The server asks for a key\. Enter it in the settings/)
  expect(errorInWords({ message: '401: no' }, { ...model, hasKey: true })).toMatch(/^The server did not accept the key/)
})

it.each([
  [300_000, undefined],
  [301_000, '6 minutes'],
  [3_600_000, 'an hour'],
  [7_200_000, '2 hours'],
  [259_200_000, '3 days'],
])('a server that asks to wait for %i ms is named with it once the wait is too long', (retryAfterMs, time) => {
  const model = { address: 'http://localhost:1/v1', page: 'http://localhost', hasKey: true, hasBegun: false }
  const text = errorInWords({ message: '429: slow down', retryAfterMs }, model)
  if (time === undefined) expect(text).not.toContain('asks to wait')
  else expect(text).toContain(`The server asks to wait for ${time}. Nothing is tried again until you say so.`)
})

it.each([
  [undefined, 0, 'Done'],
  ['Stopped', 49, 'Stopped'],
  ['Stopped', 50, 'Stopped after 0.1 s'],
  [undefined, 3_740, 'Done in 3.7 s'],
])('the card of a turn (%s, %i ms) has the title “%s”', (head, ms, title) => {
  expect(endTitle(head, ms)).toBe(title)
})

it.each([
  'Failed to process successful response',
  'Response stream ended without a finish reason.',
  'Invalid JSON response',
])('“%s” of the SDK is not shown to a person', (message) => {
  for (const hasBegun of [true, false]) {
    const model = { address: 'http://localhost:1/v1', page: 'http://localhost', hasKey: true, hasBegun }
    for (const error of [{ message }, { message, statusCode: 200 }]) {
      expect(errorInWords(describeError(error), model)).toMatch(/^The (connection|answer|server) [^()]+\.$/)
    }
  }
})

it.each([
  ['You exceeded your current quota, please check your plan and billing details.', 'insufficient_quota', false],
  ['Request failed', 'insufficient_quota', false],
  ['Quota exceeded', '', false],
  ['Insufficient balance', '', false],
  ['Quota exceeded for requests per minute', '', true],
  ['You exceeded your current quota. Please retry in 33.2s.', '', true],
  ['Rate limit reached on tokens per min. Please try again in 6s.', 'rate_limit_exceeded', true],
  ['slow down', '', true],
])('a server that answers 429 with “%s” (%s) is asked again: %s', (message, code, isAskedAgain) => {
  const model = { address: 'http://localhost:1/v1', page: 'http://localhost', hasKey: true, hasBegun: false }
  const error = {
    message,
    statusCode: 429,
    isRetryable: true,
    responseBody: JSON.stringify({ error: { message, code } }),
  }
  const described = describeError(error)
  expect(described.retryAfterMs !== undefined).toBe(isAskedAgain)
  expect(errorInWords(described, model)).toMatch(
    isAskedAgain
      ? /^Too many requests/
      : /^The account has no credit left\. Add some at the provider, or use another key\./,
  )
  const waiting = describeError({ ...error, responseHeaders: { 'retry-after': '2' } })
  expect(waiting.retryAfterMs).toBe(2_000)
  expect(errorInWords(waiting, model)).toMatch(/^Too many requests/)
})

it('an error in the middle of an answer is that of the connection or of the server', () => {
  const model = { address: 'http://localhost:1/v1', page: 'http://localhost', hasKey: true, hasBegun: true }
  expect(errorInWords({ message: 'network error' }, model)).toMatch(/^The connection broke off/)
  const early = 'Response stream ended without a finish reason.'
  expect(errorInWords({ message: early }, model)).toMatch(/^The answer ended early: the server broke it off\./)
  expect(errorInWords({ message: 'JSON parsing failed: Text: {"id' }, model)).toMatch(
    /^The server ended the answer with an error/,
  )
  expect(errorInWords({ message: 'upstream model crashed' }, model)).toBe(
    'The server ended the answer with an error. Try again. (upstream model crashed)',
  )
  expect(errorInWords({ message: 'upstream model crashed' }, { ...model, hasBegun: false })).toBe(
    'upstream model crashed',
  )
})

describe('the first screen', () => {
  it.each([
    [{ kind: 'scripted', scenario: '' }, 'Nothing leaves this page'],
    [{ kind: 'builtin' }, 'Nothing leaves this machine'],
    [
      { kind: 'endpoint', provider: 'anthropic', baseUrl: '', model: 'claude' },
      /^What the agent reads goes to \S*anthropic\S*$/,
    ],
    [{ kind: 'endpoint', provider: 'ollama', baseUrl: 'http://localhost:11434/v1', model: '' }, /to localhost:11434$/],
    [{ kind: 'endpoint', provider: 'openai', baseUrl: 'nowhere', model: '' }, /to your model$/],
  ] as const)('says in eight words what leaves the page with %j', (pick, words) => {
    expect(whatLeaves(pick)).toMatch(words)
    expect(whatLeaves(pick).split(' ').length).toBeLessThanOrEqual(8)
  })
})

describe('the words of the page', () => {
  it('has a reason for each code of a command line', () => {
    const source = readFileSync('src/shells/analysis/verdict.ts', 'utf8')
    const codes = [...source.slice(0, source.indexOf('/** One reason')).matchAll(/\| '([A-Z_]+)'/g)].map(
      ([, code]) => code,
    )
    expect(codes).toHaveLength(23)
    for (const name of codes as string[]) {
      const words = ruleInWords({ source: 'protection', name, action: 'deny' })
      expect(words, name).not.toBe('it is protected')
    }
  })

  it.each(codes)('has a sentence for a person for %s', (code) => {
    const { title, why } = codeWords[code]
    expect(title).toMatch(/^[A-Z][^.]{3,50}$/)
    expect(why).toMatch(/^[A-Z].{15,}\.$/s)
    for (const path of [undefined, 'src/a.js']) {
      const text = blockedInWords({ code, message: errorHints[code], ...(path === undefined ? {} : { path }) })
      expect(text).not.toMatch(forModels)
      expect(text).not.toContain(errorHints[code])
      if (path !== undefined) expect(text).toContain(path)
    }
    sentences.push([title, code])
  })

  it('gives every code its own title', () => {
    expect(new Set(sentences.map(([title]) => title)).size).toBe(codes.length)
  })

  const sources = [
    ...presetNames.map((name) => ['preset', name] as const),
    ...Object.keys(protectionWords).map((name) => ['protection', name] as const),
    ...riskFlags.map((flag) => ['risk', `requireApprovalIf ${flag}`] as const),
    ...[...shortForms].map((name) => ['rule', name] as const),
    ...([
      ['rule', 'the licence is final'],
      ['tool', 'editing'],
      ['default', 'default'],
      ['plan', 'plan'],
    ] as const),
    ['taint', 'published pages'] as const,
  ]

  it.each(sources)('explains a verdict by the %s %s', (source, name) => {
    for (const decision of ['allow', 'ask', 'deny'] as const) {
      const text = verdictInWords({ decision, rules: [{ source, name, action: decision }], path: 'a.txt' })
      expect(text.startsWith(`${decisionWords[decision]}: a.txt: `)).toBe(true)
      expect(text).not.toMatch(forModels)
      expect(text).not.toMatch(/undefined|requireApprovalIf|Paths\b/)
    }
  })

  const conflicts: Readonly<Record<string, readonly [Record<string, unknown>, before: string]>> = {
    'Not read before': [{ mode: 'REPLACE_EXISTING' }, 'true'],
    'Changed meanwhile': [{ expectedSha256: sha256(bytesOf('one\n')) }, 'echo two > a.txt'],
    'Deleted meanwhile': [{ expectedSha256: sha256(bytesOf('one\n')) }, 'rm a.txt'],
    'Created meanwhile': [{ expectedSha256: null }, 'true'],
    'Not the expected version': [{ expectedSha256: 'abcdef01' }, 'true'],
  }

  it.each(Object.keys(conflicts))('names the cause of a conflict: %s', async (title) => {
    const [input, command] = conflicts[title] ?? []
    const backend = memory({ 'a.txt': 'one\n' })
    const workspace = await createWorkspace({ backend, policy: 'autonomous', shell: bash() })
    await workspace.call('run_command', { command: command ?? '' })
    const result = await workspace.callTool('write_file', { path: 'a.txt', content: 'mine', ...input })
    expect(result).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
    const entry = { key: '1', actor: 'agent', tool: 'write_file', input: {}, state: 'done', at: 0, result } as never
    expect(outcomeOf(entry).text).toBe(title)
    const text = blockedInWords(result as Failure)
    expect(text).toMatch(new RegExp(`^${title} \\(a\\.txt\\)\\. [A-Z].* Nothing was changed\\.$`))
    expect(text).not.toMatch(forModels)
    await workspace.close()
  })

  it('names the root of the project, and says what cannot be done to it', () => {
    for (const path of ['.', '']) {
      const refused = codes.flatMap((code) => permissions.map((permission) => ({ permission, path, code })))
      const texts = [
        ...refused.map(refusalInWords),
        ...codes.map((code) =>
          headlineOf({ code, message: 'Policy denies file:delete of ".": it is protected', path: '.' }),
        ),
        ...codes.map((code) => headlineOf({ code, message: 'no', path: '.' })),
        aboutCall('list_directory', { path }),
        aboutCall('copy_file', { path: 'a.txt', to: path }),
        questionInWords({ tool: 'delete_file', input: { path } }),
        verdictInWords({
          decision: 'deny',
          rules: [{ source: 'default', name: 'default', action: 'deny' }],
          path: '.',
        }),
      ]
      for (const text of texts) {
        expect(text).not.toMatch(/(^|[\s("“])\.?($|[)"”?:,]|\s{2})|\w:\w|undefined/)
      }
      expect(refusalInWords({ permission: 'file:delete', path, code: 'POLICY_DENIED' })).toBe(
        'Blocked: the project folder cannot be deleted',
      )
    }
  })

  it('explains every label', () => {
    expect(Object.keys(labelWords)).toEqual([...labelNames])
  })
})
