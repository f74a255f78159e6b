/** The decision of a rule or of a policy. */
export type Decision = 'allow' | 'ask' | 'deny'

/** A built-in protection that an allow rule can override by name. No rule can open the files internal to git. */
export type Override = 'secret' | 'generated' | 'vendored' | 'lockfile' | 'binary' | 'mode'
