import { type ComponentChildren, createElement } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { copyText } from './copy-text.ts'
import { scrollable } from './focusable.ts'
import { type Block, blocksOf, type Inline } from './markdown-blocks.ts'

export interface MarkdownProps {
  readonly text: string
  /** Level of the highest heading. */
  readonly top?: number
}

/** Renders Markdown as elements: no HTML of the text, no images, and links to the web alone. */
export function Markdown({ text, top = 3 }: MarkdownProps) {
  const blocks = useMemo(() => blocksOf(text), [text])
  return (
    <div class="markdown">
      <Blocks blocks={blocks} top={top} />
    </div>
  )
}

function Blocks({ blocks, top }: { readonly blocks: readonly Block[]; readonly top: number }) {
  return <>{blocks.map((block, at) => blockElement(block, top, at))}</>
}

function blockElement(block: Block, top: number, key: number) {
  switch (block.kind) {
    case 'heading':
      return createElement(`h${Math.min(6, top + block.level - 1)}`, { key }, inlineElements(block.parts))
    case 'text':
      return <p key={key}>{inlineElements(block.parts)}</p>
    case 'code':
      return <CodeBlock key={key} language={block.language} text={block.text} />
    case 'line':
      return <hr key={key} />
    case 'quote':
      return (
        <blockquote key={key}>
          <Blocks blocks={block.blocks} top={top} />
        </blockquote>
      )
    case 'list': {
      const items = block.items.map((item, at) => (
        <li key={keyOf(at)}>
          <Blocks blocks={item} top={top} />
        </li>
      ))
      return block.first === undefined ? (
        <ul key={key}>{items}</ul>
      ) : (
        <ol key={key} start={block.first}>
          {items}
        </ol>
      )
    }
    case 'table':
      return <Table key={key} head={block.head} rows={block.rows} />
  }
}

/** Tables with more columns show each row as a list where there is little room. */
const MAX_NARROW = 3

function Table({ head, rows }: Pick<Extract<Block, { kind: 'table' }>, 'head' | 'rows'>) {
  const hasHead = head.some((cell) => cell.length > 0)
  const names = head.map(textOfInline)
  return (
    <table class={hasHead && head.length > MAX_NARROW ? 'wide' : ''}>
      {hasHead && (
        <thead>
          <tr>
            {head.map((cell, at) => (
              <th key={keyOf(at)} scope="col">
                {inlineElements(cell)}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((cells, row) => (
          <tr key={keyOf(row)}>
            {cells.map((cell, at) =>
              at === 0 && !hasHead ? (
                <th key={keyOf(at)} scope="row">
                  {inlineElements(cell)}
                </th>
              ) : (
                <td key={keyOf(at)} data-head={names[at]}>
                  {inlineElements(cell)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function textOfInline(parts: readonly Inline[]): string {
  return parts.map((part) => ('text' in part ? part.text : textOfInline(part.parts))).join('')
}

function CodeBlock({ language, text }: { readonly language: string; readonly text: string }) {
  const [outcome, setOutcome] = useState('')
  const copy = async () => {
    setOutcome(await copyText(text, 'Copied'))
    setTimeout(() => setOutcome(''), 2000)
  }
  return (
    <div class={language === '' ? 'code-block bare' : 'code-block'}>
      <div class="code-block-head">
        <span class="grow muted small">{language}</span>
        <button type="button" class="button quiet" aria-label="Copy the code" onClick={() => void copy()}>
          {outcome || 'Copy'}
        </button>
        <span class="visually-hidden" role="status">
          {outcome}
        </span>
      </div>
      <pre {...scrollable}>
        <code>{text}</code>
      </pre>
    </div>
  )
}

function inlineElements(parts: readonly Inline[]): readonly ComponentChildren[] {
  return parts.map((part, key) => {
    switch (part.kind) {
      case 'text':
        return part.text
      case 'code':
        return <code key={keyOf(key)}>{part.text}</code>
      case 'link':
        return (
          <a key={keyOf(key)} href={part.href} target="_blank" rel="noopener noreferrer" title={part.href}>
            {inlineElements(part.parts)}
          </a>
        )
      default:
        return createElement(part.kind, { key: keyOf(key) }, inlineElements(part.parts))
    }
  })
}

/** The parts of a text have no names: their places are their keys. */
function keyOf(at: number): string {
  return String(at)
}
