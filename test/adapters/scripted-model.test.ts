import { generateText, type ModelMessage, stepCountIs, streamText } from 'ai'
import { describe, expect, it } from 'vitest'
import { aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { call, calls, type Script, say, scriptedModel } from '../../src/testing/scripted-model.ts'

const open = (files: Readonly<Record<string, string>>) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', ids: () => 'id', clock: () => 0 })

/** Increments the number in a file, in the version that it read. */
const increment: Script = function* (request) {
  const path = /\S+\.txt/.exec(request)?.[0] ?? ''
  const file = yield* call(`I read ${path}.`, 'read_file', { path })
  if (!file.ok) return `No: ${file.code}.`
  const edited = yield* call('One more.', 'edit_file', {
    path,
    oldText: file.content,
    newText: `${Number(file.content) + 1}\n`,
    expectedSha256: file.sha256,
  })
  if (!edited.ok) return `No: ${edited.code}.`
  const answer = yield* say(`It is ${Number(file.content) + 1}. Shall I go on?`)
  return answer === 'yes' ? 'I would.' : 'Then not.'
}

describe('scriptedModel', () => {
  it.each([
    ['41\n', '42\n', 'It is 42. Shall I go on?', 'json'],
    ['7\n', '8\n', 'It is 8. Shall I go on?', 'json'],
    ['7\n', '8\n', 'It is 8. Shall I go on?', 'text'],
  ] as const)('uses the results of tools: %j becomes %j', async (before, after, said, results) => {
    const workspace = await open({ 'n.txt': before })
    const { text, steps } = await generateText({
      model: scriptedModel(increment),
      tools: aiSdkTools(workspace, { results }),
      stopWhen: stepCountIs(9),
      prompt: 'Increment n.txt, please',
    })
    expect(text).toBe(said)
    expect(steps.length).toBe(3)
    expect((await workspace.files.read('n.txt')).content).toBe(after)
  })

  it.each(['json', 'text'] as const)('sees a refusal as a result: %s', async (results) => {
    const workspace = await open({})
    const { text } = await generateText({
      model: scriptedModel(increment),
      tools: aiSdkTools(workspace, { results }),
      stopWhen: stepCountIs(9),
      prompt: 'Increment n.txt, please',
    })
    expect(text).toBe('No: NOT_FOUND.')
  })

  it('depends only on the conversation: another instance continues it, step by step', async () => {
    const workspace = await open({ 'n.txt': '1\n' })
    let messages: ModelMessage[] = [{ role: 'user', content: 'Increment n.txt, please' }]
    const texts: string[] = []
    const step = async (): Promise<void> => {
      const { response, text } = await generateText({
        model: scriptedModel(increment),
        tools: aiSdkTools(workspace, { results: 'json' }),
        messages,
      })
      texts.push(text)
      messages = JSON.parse(JSON.stringify([...messages, ...response.messages]))
    }
    for (const words of [undefined, undefined, undefined, 'yes', 'Now m.txt']) {
      if (words !== undefined) messages.push({ role: 'user', content: words })
      await step()
    }
    expect(texts).toEqual(['I read n.txt.', 'One more.', 'It is 2. Shall I go on?', 'I would.', 'I read m.txt.'])
    const ids = messages.flatMap(({ role, content }) =>
      role === 'assistant' && typeof content !== 'string'
        ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [],
    )
    expect(ids).toEqual(['call-1', 'call-2', 'call-3'])
  })

  it('calls several tools at once, and receives their results in order', async () => {
    const workspace = await open({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const model = scriptedModel(function* () {
      const read = yield* calls(
        '',
        ...['b.txt', 'none.txt', 'a.txt'].map((path) => ({ name: 'read_file', input: { path } })),
      )
      return read.map(({ ok, content, code }) => (ok ? content : code)).join()
    })
    const { text } = await generateText({
      model,
      tools: aiSdkTools(workspace, { results: 'json' }),
      stopWhen: stepCountIs(9),
      prompt: 'Go.',
    })
    expect(text).toBe('b\n,NOT_FOUND,a\n')
  })

  it('streams word by word, with the given delay, and stops on abort', async () => {
    const pieces: string[] = []
    const stop = new AbortController()
    const model = scriptedModel(
      // biome-ignore lint/correctness/useYield: the script makes no call
      function* () {
        return 'one two  three\nfour five'
      },
      {
        wait: async (piece) => {
          pieces.push(piece)
          if (pieces.length === 8) stop.abort()
        },
      },
    )
    let text = ''
    for await (const delta of streamText({ model, prompt: 'Go.' }).textStream) text += delta
    expect(text).toBe('one two  three\nfour five')
    expect(pieces).toEqual(['one', ' two', '  three', '\nfour', ' five'])
    let cut = ''
    for await (const delta of streamText({ model, prompt: 'Go.', abortSignal: stop.signal }).textStream) cut += delta
    expect(text.startsWith(cut) && cut !== text, cut).toBe(true)
    expect(pieces.length).toBeLessThan(10)
  })
})
