import { existsSync } from 'node:fs'
import { styleText } from 'node:util'
import { type AuditFileCheck, verifyAuditFile } from '../audit/jsonl-sink.ts'
import { counted } from '../util/counted.ts'
import { parseWords, unknownAction } from './parse-words.ts'

/**
 * `wardspace audit verify FILE...`: checks that the hash chain of each audit file is complete, with the files that it was
 * rotated into. Records missing at the end are noticed only with `--head`, the hash of the last record.
 */
export async function audit(words: string[]): Promise<number> {
  const { values, positionals } = parseWords('audit', words)
  const [action = '', ...files] = positionals
  if (action !== 'verify') throw unknownAction('audit', action)
  const [first, second] = files
  if (first === undefined) throw new TypeError('Which audit file? wardspace audit verify FILE')
  if (second !== undefined && (values.head !== undefined || values.after !== undefined)) {
    throw new TypeError('--head and --after apply to one file; pass only one')
  }
  for (const hash of [values.head, values.after]) {
    if (hash !== undefined && !/^[0-9a-f]{64}$/.test(hash)) {
      throw new TypeError('--head and --after take the hash of a record: 64 hexadecimal digits')
    }
  }
  const missing = files.find((file) => !existsSync(file))
  if (missing !== undefined) throw new TypeError(`There is no audit file "${missing}"`)

  let isComplete = true
  for (const file of files) {
    const check = verifyAuditFile(file, {
      ...(values.head === undefined ? {} : { head: { hash: values.head } }),
      ...(values.after === undefined ? {} : { after: { hash: values.after } }),
    })
    isComplete &&= check.ok
    process.stdout.write(
      values.json === true ? `${JSON.stringify({ audited: file, ...check })}\n` : formatCheck(file, check),
    )
  }
  return isComplete ? 0 : 1
}

function formatCheck(file: string, check: AuditFileCheck): string {
  if (check.ok) {
    return `${styleText('green', 'whole')}    ${file}: ${counted(check.count, 'record')}, the chain is intact\n         head ${check.head.hash}\n`
  }
  const where = check.file === undefined ? '' : ` (line ${check.line} of ${check.file})`
  return `${styleText('red', 'damaged')}  ${file}: record ${check.at + 1}${where}: ${check.reason}\n`
}
