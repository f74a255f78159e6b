/** Whether a commit is named by its id or the start of it, and not by a ref. */
export function isWrittenAsId(name: string | undefined): boolean {
  return name !== undefined && /^[0-9a-f]{4,40}(?:[~^]|$)/.test(name)
}
