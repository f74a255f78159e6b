/** What a rule, or all of them together, say. */
export type Decision = 'allow' | 'ask' | 'deny'

/** A built-in protection that an allow rule may lift by naming it. Git's own files cannot be opened by any rule. */
export type Override = 'secret' | 'generated' | 'vendored' | 'lockfile' | 'binary' | 'mode'
