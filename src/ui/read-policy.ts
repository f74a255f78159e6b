import { lintPolicy, type PolicyFinding } from '../policy/lint.ts'
import type { PolicyInput } from '../policy/schema.ts'
import { type JsonNode, type JsonPath, lineAt, parseJson, placeOfField } from './json-text.ts'

/** The result of parsing a policy: the policy with what it leaves open, or the mistake with its place. */
export type ReadPolicy =
  | {
      readonly ok: true
      readonly policy: PolicyInput
      readonly root: JsonNode
      readonly findings: readonly PolicyFinding[]
    }
  | {
      readonly ok: false
      readonly message: string
      /** The line of the mistake, from 1. */
      readonly line: number
      /** The field or the nearest value around it. */
      readonly path: JsonPath
      /** `undefined` if the text is not JSON. */
      readonly root?: JsonNode
    }

/** Parses a policy and checks it by the engine. */
export function readPolicy(text: string): ReadPolicy {
  const json = parseJson(text)
  if (!json.ok) return { ok: false, message: json.message, line: lineAt(text, json.at), path: [] }
  const policy = JSON.parse(text) as PolicyInput
  if (typeof policy !== 'string' && json.root.members === undefined) {
    const message = 'A policy is written between { and }, or is the name of a preset'
    return { ok: false, message, line: lineAt(text, placeOfField(json.root, '').at), path: [], root: json.root }
  }
  try {
    return { ok: true, policy, root: json.root, findings: lintPolicy(policy) }
  } catch (error) {
    const { message } = error as Error
    const [, field = ''] = /^Policy field "((?:[^"\\]|\\.)*)"/.exec(message) ?? []
    const { path, at } = placeOfField(json.root, field)
    const words = message.replace(/^Policy field "((?:[^"\\]|\\.)*)"/, '“$1”')
    return { ok: false, message: words, line: lineAt(text, at), path, root: json.root }
  }
}
