import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { call, createPathMapping, type Dialect } from '../../src/dialects/define.ts'
import { createWorkspace } from '../../src/index.ts'

const right = function* () {
  return { output: yield* call('read_file', { path: 'a.txt' }) }
}

/** Steps that only return a value. */
const returning = (value: unknown) => () => ({ next: () => ({ done: true, value }) })

/** Calls the only tool of a dialect, which has these steps. */
async function callWith(
  steps: unknown,
  formatError: unknown = ({ message }: { message: string }) => ({ output: message }),
) {
  const tool = { name: 'view', description: 'Show a file.', input: z.object({}), uses: ['read_file'], steps }
  const dialect = {
    ...{ name: 'mine', description: 'Mine', pathMapping: createPathMapping({ '/w': '' }), tools: [tool], formatError },
  } as unknown as Dialect
  const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'one\n' }), policy: 'autonomous', dialect })
  const causes: string[] = []
  workspace.subscribe((event) => event.type === 'exception' && causes.push(String(event.cause)))
  const explained = await workspace.explain('view', {})
  return { result: await workspace.call('view', {}), explained, causes }
}

describe('a mistake in the steps of a dialect tool', () => {
  const wrong: Readonly<Record<string, readonly [steps: unknown, cause: string]>> = {
    'an exception': [
      () => {
        throw new RangeError('mine')
      },
      'RangeError: mine',
    ],
    'no generator': [() => ({ output: 'x' }), 'write it as function*'],
    'nothing returned instead of steps': [() => undefined, 'write it as function*'],
    'an undeclared tool': [
      function* () {
        yield* call('write_file', { path: 'a.txt', content: 'x' })
      },
      'neither its "uses" nor its "mayUse" name',
    ],
    'a step that is a text': [
      function* () {
        yield 'read_file'
      },
      'yields a value that is not a step',
    ],
    'yield without a star': [
      function* () {
        yield call('read_file', { path: 'a.txt' })
        return { output: '' }
      },
      'write yield* call',
    ],
    'no yield': [returning(call('read_file', { path: 'a.txt' })), 'returned steps that were not run'],
    'an answer that is a text': [returning('one'), 'did not return { output }'],
    'no answer': [returning(undefined), 'did not return { output }'],
    'a misspelled output': [returning({ outpt: 'x' }), 'unknown field "outpt"; did you mean "output"?'],
    'an answer without output': [returning({ isError: true }), '"output" is missing'],
    'an answer with a success flag': [returning({ ok: true, output: 'x' }), 'unknown field "ok"'],
    'isError that is a text': [returning({ output: 'x', isError: 'no' }), '"isError" must be true or false'],
    'an unknown field of a call': [
      function* () {
        return { output: yield* call('read_file', { pth: 'a.txt' } as never) }
      },
      'with the unknown field "pth"; did you mean "path"?',
    ],
  }
  it.each(Object.entries(wrong))('%s is reported to its author', async (_name, [steps, cause]) => {
    const { result, causes } = await callWith(steps)
    expect(result).toMatchObject({ isError: true, failure: { code: 'BACKEND_ERROR' } })
    expect(String(result.failure?.cause)).toContain(cause)
    expect(causes.join()).toContain(cause)
    expect(typeof result.output).toBe('string')
    expect(String(result.output)).toContain('The dialect failed in its tool view')
  })

  it.each([undefined, null, 'x', { outpt: 'x' }])(
    'formatError that returns %j does not hide the error',
    async (answer) => {
      const { result } = await callWith(wrong['no answer']?.[0], () => answer)
      expect(result).toMatchObject({ isError: true, output: expect.stringContaining('BACKEND_ERROR') })
    },
  )

  it('none: the answer is the one of the steps', async () => {
    expect((await callWith(right)).result).toMatchObject({ isError: false, output: { content: 'one\n' } })
  })
})

describe('explain of a tool with a mistake in its steps', () => {
  const wrong: Readonly<Record<string, unknown>> = {
    'no generator': () => ({ output: 'x' }),
    'an undeclared tool': function* () {
      yield* call('write_file', { path: 'a.txt', content: 'x' })
    },
    'an unknown field': function* () {
      yield* call('read_file', { path: 'a.txt', strat: 1 } as never)
    },
    'a step that is a text': function* () {
      yield 'read_file'
    },
    'yield without a star': function* () {
      yield call('read_file', { path: 'a.txt' })
    },
  }

  it.each(Object.entries(wrong))('%s: fails as the call does', async (_name, steps) => {
    const { result, explained } = await callWith(steps)
    expect(result.isError).toBe(true)
    expect(explained).toMatchObject({ ok: false, code: result.failure?.code, message: result.failure?.message })
  })
})
