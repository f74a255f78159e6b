import { AsyncLocalStorage } from 'node:async_hooks'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { memorySink, spanSink, type TracerLike } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { entry } from './entries.ts'
import { byContent, calls, leaks, tree } from './planted.ts'

/** A tracer with the interface of OpenTelemetry that records its spans. */
function tracer() {
  const active = new AsyncLocalStorage<string>()
  const spans: Record<string, unknown>[] = []
  const api: TracerLike = {
    startSpan(name, options) {
      const span: Record<string, unknown> = { name, ...options, parent: active.getStore() }
      spans.push(span)
      return {
        setStatus: (status) => Object.assign(span, { status }),
        end: (endTime) => void Object.assign(span, { endTime }),
      }
    },
  }
  return { api, spans, active }
}

async function open(api: TracerLike) {
  let now = 1000
  return createWorkspace({
    backend: memory(tree),
    policy: { preset: 'autonomous', memory: {} },
    shell: bash(),
    audit: [memorySink(), spanSink(api)],
    clock: () => (now += 5),
    run: { id: 'run', actor: 'tester' },
  })
}

it('spanSink creates one span per call, from its start to its end, below the span of the caller', async () => {
  const { api, spans, active } = tracer()
  const workspace = await open(api)
  await active.run('outer', () => workspace.call('append_file', { path: 'new.txt', content: 'x', reason: 'because' }))
  await workspace.call('read_file', { path: '.env' })
  await workspace.callTool(`made up ${byContent.github}`, {})
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'wardspace.run.id': 'run', 'wardspace.actor': 'tester' }
  expect(spans).toMatchObject([
    {
      ...{ name: 'execute_tool append_file', parent: 'outer' },
      attributes: {
        ...attributes,
        'gen_ai.tool.call.id': 'run-1',
        'wardspace.decision': 'allow',
        'wardspace.paths.written': 1,
      },
    },
    {
      name: 'execute_tool read_file',
      attributes: {
        ...attributes,
        'wardspace.decision': 'deny',
        'error.type': 'POLICY_DENIED_SECRET',
        'wardspace.step': 'policy',
      },
      status: { code: 2, message: 'POLICY_DENIED_SECRET' },
    },
    { name: 'execute_tool unknown', attributes: { 'error.type': 'UNKNOWN_TOOL' } },
  ])
  expect(spans[0]).not.toHaveProperty('status')
  for (const { startTime, endTime } of spans) expect(Number(endTime)).toBeGreaterThan(Number(startTime))
  expect(workspace.verifyAudit()).toMatchObject({ ok: true, count: 4 })
})

it('spanSink exposes no path, no reason, no content and no secret', async () => {
  const { api, spans } = tracer()
  const workspace = await open(api)
  for (const tool of calls) {
    for (const input of fc.sample(tool.input, { numRuns: 5, seed: 3 })) {
      await workspace.callTool(tool.name, { ...input, reason: byContent.github })
      await workspace.callTool(tool.name, input)
    }
  }
  await workspace.close()
  const text = JSON.stringify(spans)
  expect(spans.length).toBeGreaterThan(calls.length * 10 - 1)
  expect(leaks(text)).toEqual([])
  expect(text).not.toMatch(/src\/|config|guide|\.env|answer|Error:/)
})

it('spanSink does not disturb calls if the tracer throws, and refuses an invalid tracer', async () => {
  const workspace = await open({
    startSpan() {
      throw new Error('no')
    },
  })
  expect(await workspace.call('write_file', { path: 'new.txt', content: 'x' })).toMatchObject({
    ok: true,
    warnings: [],
  })
  for (const wrong of [undefined, {}, { startSpan: 1 }]) expect(() => spanSink(wrong as never)).toThrow(TypeError)
})

it('spanSink adds the label of a result and the code of a refusal, if known', () => {
  const { api, spans } = tracer()
  const sink = spanSink(api)
  sink.accept?.(entry(1, { phase: 'outcome', label: 'restricted' }))
  sink.accept?.(entry(2, { phase: 'refused', code: 'READ_ONLY' as never }))
  expect(spans).toMatchObject([
    { attributes: { 'wardspace.label': 'restricted' } },
    { attributes: { 'error.type': 'READ_ONLY', 'wardspace.step': 'unknown' }, status: { message: 'READ_ONLY' } },
  ])
})
