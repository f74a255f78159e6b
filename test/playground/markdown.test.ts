import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Block, blocksOf, type Inline, safeAddress } from '../../src/elements/parts/markdown-blocks.ts'
import { ownTime } from '../own-time.ts'

/** The text that a person reads, without any mark. */
const textOf = (blocks: readonly Block[]): string =>
  blocks
    .map((block) => {
      switch (block.kind) {
        case 'code':
          return block.text
        case 'quote':
          return textOf(block.blocks)
        case 'list':
          return block.items.map(textOf).join('\n')
        case 'table':
          return [block.head, ...block.rows].map((cells) => cells.map(inlineText).join(' ')).join('\n')
        case 'line':
          return ''
        default:
          return inlineText(block.parts)
      }
    })
    .join('\n')
const inlineText = (parts: readonly Inline[]): string =>
  parts.map((part) => ('text' in part ? part.text : inlineText(part.parts))).join('')

/** All addresses that the rendered text links to. */
function linksOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(linksOf)
  if (typeof value !== 'object' || value === null) return []
  const { href, ...rest } = value as { href?: string }
  return [...(href === undefined ? [] : [href]), ...Object.values(rest).flatMap(linksOf)]
}

const piece = fc.constantFrom(
  ...['**', '*', '_', '`', '```', '~~', '[', ']', '(', ')', '![', '](', '<', '>', '|', '\n', '\n\n', '- ', '1. ', '> '],
  ...[
    '# ',
    '|-|',
    ' ',
    'word',
    'javascript:alert(1)',
    'https://a.b/c',
    'data:text/html,x',
    '<img src=x onerror=y>',
    '\\',
  ],
  ...['file:///etc', 'HTTP://U:p@h', 'é', '  '],
)

describe('Markdown of a message', () => {
  it('reads the usual marks', () => {
    const text =
      '# Title\n\nA **bold** and *soft* `code`, ~~gone~~.\n\n- one\n- two\n  - inner\n\n1. first\n2. second\n\n> said\n\n```js\nlet a = "**"\n```\n\n| a | b |\n|---|---|\n| 1 | `2` |'
    expect(blocksOf(text).map(({ kind }) => kind)).toEqual([
      ...['heading', 'text', 'list', 'list', 'quote', 'code', 'table'],
    ])
    expect(textOf(blocksOf(text))).toBe(
      'Title\nA bold and soft code, gone.\none\ntwo\ninner\nfirst\nsecond\nsaid\nlet a = "**"\na b\n1 2',
    )
  })

  it('reads code by its indentation, but not in a paragraph', () => {
    expect(blocksOf('Run\n\n    npm test\n\n\tnpm start\n\n\nand\n    look')).toEqual([
      { kind: 'text', parts: [{ kind: 'text', text: 'Run' }] },
      { kind: 'code', language: '', text: 'npm test\n\nnpm start' },
      { kind: 'text', parts: [{ kind: 'text', text: 'and\n    look' }] },
    ])
    expect(textOf(blocksOf('- one\n\n    its text\n    - inner'))).toBe('one\nits text\ninner')
  })

  it('leaves names with underscores, stars of a product and half-written marks as they are', () => {
    for (const text of ['snake_case_name and __init', '2 * 3 * 4', 'a **b', 'an [open](link', '`open', 'C:\\temp']) {
      expect(textOf(blocksOf(text))).toBe(text)
    }
    expect(textOf(blocksOf('```js\nlet a = 1'))).toBe('let a = 1')
  })

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//host/x',
    '/x',
    ' https:',
    'blob:null/x',
  ])('does not link to %s', (target) => {
    expect(safeAddress(target)).toBeUndefined()
    expect(linksOf(blocksOf(`[x](${target}) ![x](${target}) <${target}> ${target}`))).toEqual([])
  })

  it('shows an image as a link to it, and HTML as text', () => {
    const blocks = blocksOf('![logo](https://a.b/c.png) <script>x</script>')
    expect(textOf(blocks)).toBe('Image: logo <script>x</script>')
    expect(linksOf(blocks)).toEqual(['https://a.b/c.png'])
  })

  it('links to the web alone, whatever the text is, and loses no word', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('')
        const blocks = blocksOf(text)
        for (const href of linksOf(blocks)) expect(href).toMatch(/^https?:\/\//)
        const words = text.match(/word|é/g)?.length ?? 0
        const shown = (textOf(blocks) + linksOf(blocks).join(' ')).match(/word|é/g)?.length ?? 0
        // The words after the mark of a fence name its language, and are not shown.
        const isMeta = /(?:```|~~~)[ \t]*\S|\[[^\]]*\]\(/.test(text)
        if (!isMeta) expect(shown).toBeGreaterThanOrEqual(words)
      }),
      { numRuns: 500 },
    )
  })

  it('takes time in proportion to the text', () => {
    for (const unit of ['*a', '_', '`a``', '[a](', '![', '> ', '- ', '|a', 'http://', '**a ', '\\', '~~']) {
      const text = unit.repeat(50_000 / unit.length)
      const start = performance.now()
      blocksOf(text)
      expect(performance.now() - start, unit).toBeLessThan(2000)
    }
  })
})

it('takes no more time for a hostile text than for another one of its length', () => {
  const parts = [
    '`',
    '~',
    ' ',
    '-',
    '|',
    '- ',
    ': ',
    '*',
    '_',
    '[',
    '](',
    '![',
    '<',
    '!',
    ')',
    '#',
    '>',
    '\\',
    'a\n',
    '1. ',
  ]
  for (const start of ['', '```', '~~~', '|a|\n|', '# ', '- ', '> ', '[', 'http://a'])
    for (const part of parts)
      for (const end of ['`', 'x', ')']) {
        const text = `${start}${part.repeat(20_000 / part.length)}${end}`
        const before = ownTime()
        blocksOf(text)
        expect(ownTime() - before, JSON.stringify([start, part, end])).toBeLessThan(400)
      }
}, 60_000)
