/** Renders a report in Markdown. Reports contain only headings, tables, lists and paragraphs. */
export function ReportText({ text }: { readonly text: string }) {
  return (
    <div class="report">
      {blocksOf(text).map(({ kind, lines, line }) => {
        if (kind === 'heading') {
          const [, marks = '', title = ''] = /^(#+) (.*)$/.exec(lines[0] ?? '') ?? []
          return marks.length === 1 ? <h2 key={line}>{plain(title)}</h2> : <h3 key={line}>{plain(title)}</h3>
        }
        if (kind === 'table') return <Table key={line} lines={lines} />
        if (kind === 'list') {
          return (
            <ul key={line}>
              {lines.map((item) => (
                <li key={item}>{plain(item.replace(/^[-*] /, ''))}</li>
              ))}
            </ul>
          )
        }
        return <p key={line}>{plain(lines.join(' '))}</p>
      })}
    </div>
  )
}

function Table({ lines }: { readonly lines: readonly string[] }) {
  const [head = [], , ...rows] = lines.map(cellsOf)
  const hasHead = head.some((cell) => cell !== '')
  return (
    <table>
      {hasHead && (
        <thead>
          <tr>
            {head.map((cell) => (
              <th key={cell} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((cells) => (
          <tr key={cells.join('|')}>
            {cells.map((cell, at) =>
              at === 0 && !hasHead ? (
                <th key={head[at]} scope="row">
                  {cell}
                </th>
              ) : (
                <td key={`${at} ${cell}`}>{cell}</td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface Block {
  readonly kind: 'heading' | 'table' | 'list' | 'text'
  readonly lines: string[]
  /** Index of the first line. */
  readonly line: number
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = []
  let isOpen = false
  for (const [line, content] of text.split('\n').entries()) {
    if (content.trim() === '') {
      isOpen = false
      continue
    }
    const kind = /^#+ /.test(content)
      ? 'heading'
      : content.startsWith('|')
        ? 'table'
        : /^[-*] /.test(content)
          ? 'list'
          : 'text'
    const last = blocks.at(-1)
    if (isOpen && last?.kind === kind) last.lines.push(content)
    else blocks.push({ kind, lines: [content], line })
    isOpen = true
  }
  return blocks
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => plain(cell.trim()))
}

/** Removes the escapes and backticks of Markdown. */
function plain(text: string): string {
  return text.replace(/\\([\\`*_{}[\]()#+\-.!|<>~])/g, '$1').replaceAll('`', '')
}
