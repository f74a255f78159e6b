import type { PaintedLine } from 'wardspace/elements'
import { type CodeMirror, loadCodeMirror } from '../../../src/elements/code/codemirror.ts'

/** Longer texts have no colours. */
const MAX_COLOURED = 200_000

type Paint = (path: string, text: string) => readonly PaintedLine[] | undefined

/** Loads the function that returns the coloured parts of each line of a text, or undefined if it has no colours. */
export async function loadPaint(): Promise<Paint | undefined> {
  const codeMirror = await loadCodeMirror()
  return codeMirror && paintWith(codeMirror)
}

function paintWith({ language, highlight, languageOf }: CodeMirror): Paint {
  const { highlightCode, tagHighlighter, tags } = highlight
  const highlighter = tagHighlighter([
    { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], class: 'code-keyword' },
    { tag: [tags.string, tags.special(tags.string), tags.regexp], class: 'code-string' },
    { tag: [tags.number, tags.bool, tags.null, tags.atom], class: 'code-number' },
    { tag: [tags.comment, tags.meta], class: 'code-comment' },
    { tag: [tags.function(tags.variableName), tags.propertyName, tags.heading], class: 'code-name' },
    { tag: [tags.typeName, tags.className, tags.tagName, tags.namespace], class: 'code-type' },
  ])
  return (path, text) => {
    const support = languageOf(path)
    if (!(support instanceof language.LanguageSupport) || text.length > MAX_COLOURED) return undefined
    const lines: PaintedLine[number][][] = [[]]
    highlightCode(
      text,
      support.language.parser.parse(text),
      highlighter,
      (part, kind) => lines.at(-1)?.push({ text: part.replace(/\r$/, ''), kind }),
      () => lines.push([]),
    )
    return lines
  }
}
