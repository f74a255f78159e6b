import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isInRoots, type Root } from './roots.ts'

/** Returns why an audit file cannot be used, as the end of a sentence, or undefined when it can. Creates nothing. */
export function auditProblem(file: string, roots: readonly Root[]): string | undefined {
  if (isInRoots(roots, file)) return 'it is inside the root, where an agent could reach it'
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat?.isDirectory() === true) return 'it is a directory'
  if (stat?.isFile() === false) return 'it is not a regular file'
  const directory = dirname(file)
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    return `there is no directory "${directory}"`
  try {
    accessSync(stat === undefined ? directory : file, constants.W_OK)
    return undefined
  } catch {
    return 'it may not be written'
  }
}

/** @throws TypeError for an audit file that cannot be used */
export function requireAuditFile(file: string, roots: readonly Root[]): void {
  const problem = auditProblem(file, roots)
  if (problem !== undefined) throw new TypeError(`Cannot write the audit file "${file}": ${problem}`)
}

/** @throws TypeError for the name of an audit file in a policy with ~ or a variable, which a shell would replace */
export function requirePlainName(name: string): void {
  if (!/^~|\$\{?\w|%\w+%/.test(name)) return
  throw new TypeError(`The audit file is "${name}", but ~ and variables are not expanded: write the path of the file`)
}
