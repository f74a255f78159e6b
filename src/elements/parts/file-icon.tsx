import { ownValue } from '../../util/own-value.ts'

/** Kinds of files, with a short sign and the colour of its role. */
const kinds: Readonly<Record<string, readonly [sign: string, kind: string]>> = {
  js: ['JS', 'script'],
  mjs: ['JS', 'script'],
  cjs: ['JS', 'script'],
  jsx: ['JX', 'script'],
  ts: ['TS', 'typed'],
  mts: ['TS', 'typed'],
  tsx: ['TX', 'typed'],
  json: ['{}', 'data'],
  jsonc: ['{}', 'data'],
  yml: ['{}', 'data'],
  yaml: ['{}', 'data'],
  toml: ['{}', 'data'],
  csv: ['▦', 'data'],
  md: ['M', 'text'],
  txt: ['≡', 'text'],
  css: ['#', 'style'],
  html: ['<>', 'markup'],
  svg: ['<>', 'markup'],
  png: ['▣', 'image'],
  jpg: ['▣', 'image'],
  gif: ['▣', 'image'],
  sh: ['$', 'script'],
}

/** A sign for the kind of a file. It is decoration: the name beside it says the same. */
export function FileIcon({ path }: { readonly path: string }) {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const [sign, kind] = ownValue(kinds, name.slice(name.lastIndexOf('.') + 1)) ?? ['·', 'other']
  return (
    <span class={`file-icon ${kind}`} aria-hidden="true">
      {sign}
    </span>
  )
}
