import { expect, it } from 'vitest'
import { mediaTypeOf, previewKindOf } from '../../playground/session/preview-kind.ts'
import { mimeTypeOf } from '../../src/adapters/mcp/read-resource.ts'
import { verbOf as chatVerbOf, iconOf, objectOf } from '../../src/elements/chat/call-verbs.ts'
import { riskInWords } from '../../src/elements/parts/risk-words.ts'
import { isIncomplete } from '../../src/elements/terminal/incomplete.ts'
import { questionInWords, verbOf } from '../../src/ui/words/approval-words.ts'
import { ruleInWords } from '../../src/ui/words/verdict-words.ts'

/** Names that every object has. A file, a tool or a rule may have them, too. */
const names = Object.getOwnPropertyNames(Object.prototype)

/** What is said of a name from outside, as a text without the name. */
const sayings: Readonly<Record<string, (name: string) => unknown>> = {
  'type of a resource': (name) => mimeTypeOf(`a.${name}`),
  'type of a preview': (name) => [mediaTypeOf(`a.${name}`), previewKindOf(`a.${name}`)],
  'a call in a chat': (name) => [iconOf(name), objectOf(name, {}), chatVerbOf(name, 'does')],
  'a question': (name) => [verbOf(name), questionInWords({ tool: name, input: {} })],
  'a risk': (name) => riskInWords({ flag: name as never, reason: '' } as never),
  'a typed line': (name) => isIncomplete(`${name} x`),
  'a rule': (name) =>
    ['protection', 'preset', 'risk', 'rule'].map((source) => ruleInWords({ source, name, action: 'deny' })),
}

it.each(Object.entries(sayings))('%s: a name of every object is one like any other', (_, say) => {
  const text = (name: string) => JSON.stringify(say(name))?.replaceAll(name, 'NAME')
  for (const name of names) expect([name, text(name)]).toEqual([name, text('someothername')])
})
