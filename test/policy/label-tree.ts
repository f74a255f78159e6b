/** The files of the label tests: `conf/` is labelled, `pub/` and `mid/` are sinks, and everything else is unrestricted. */
export const TOKEN = 'TOKEN7291'

export const tree = {
  'conf/x.txt': `${TOKEN}\nsecond\n`,
  'conf/deep/y.txt': `first\n${TOKEN}\n`,
  'pub/index.txt': 'hello\n',
  'mid/index.txt': 'hello\n',
  'tmp/a.txt': 'free\n',
  'notes.txt': 'notes\n',
} as const
