/** The names of the short forms in a verdict. Rules may not have these names. */
export const shortForms: ReadonlySet<string> = new Set(['allowedPaths', 'deniedPaths', 'readOnlyPaths', 'memory.acl'])
