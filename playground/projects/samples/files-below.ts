/** Files by their path below a folder. */
export function filesBelow(folder: string, found: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(found).map(([path, text]) => [path.slice(folder.length), text]))
}
