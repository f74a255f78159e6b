/** What there is here in place of a command that is not. */
const places: readonly (readonly [names: string, sentence: string])[] = [
  ['nano vi vim nvim emacs code ed pico micro', 'Open the file in the editor instead.'],
  ['less more most', 'Use cat: the terminal scrolls.'],
  ['man info', 'Try help, or the command with --help.'],
  ['curl wget ping ssh scp sftp nc telnet ftp rsync gh', 'Commands cannot reach the network here.'],
  ['apt apt-get brew dpkg dnf yum apk pacman snap', 'Nothing can be installed in this page.'],
  ['pip pip3 python python3 ruby perl php java go cargo rustc gcc g++ deno bun', 'Scripts run with node.'],
  ['npx bunx pnpx yarn pnpm corepack', 'Use npm test, npm start or npm run with a script of package.json.'],
  ['sudo su doas', 'The project is yours: commands run with your rights already.'],
  ['top htop ps kill killall jobs', 'Commands end with Ctrl+C.'],
  ['docker podman kubectl systemctl service make cmake', 'Only bash, git, node and npm scripts run in this page.'],
  ['open xdg-open start', 'Press a path in the terminal to open the file.'],
  ['ll dir', 'Use ls -la.'],
  ['cls', 'Use clear.'],
  ['copy', 'Use cp.'],
  ['move', 'Use mv.'],
  ['del', 'Use rm.'],
  ['zip unzip', 'Use tar, or export the project as a zip.'],
  [
    'tsc tsx ts-node nodemon vitest jest mocha eslint prettier vite webpack',
    'No packages are installed here. Tests run with node --test.',
  ],
  [
    'uname df free uptime lsof ulimit ifconfig ipconfig ip netstat mount passwd crontab locate',
    'This shell has the files of the project and no operating system.',
  ],
  ['alias unalias', 'Define a function instead: g() { git "$@"; }'],
  ['fg bg disown', 'A command ends before the next one begins.'],
  ['logout', 'The terminal ends with the page.'],
  ['watch', 'Run the command again with the arrow up and Enter.'],
  ['source', 'Run the file with bash FILE.'],
]

/** Lines that begin a dialogue with an interpreter, or end one with the shell, and what there is in its place. */
const interpreters: Readonly<Record<string, string>> = {
  node: 'node has no prompt of its own here. Run node FILE, or node -e "CODE".',
  bash: 'This is bash already. Run a script with bash FILE.',
  sh: 'This is bash already. Run a script with sh FILE.',
  exit: 'This terminal does not end: it lasts as long as the page. Its cross closes it, and it keeps its lines.',
}

const sentences = new Map(places.flatMap(([names, sentence]) => names.split(' ').map((name) => [name, sentence])))

/** Says what there is here in place of a command. Returns undefined for one that is unknown. */
export function sentenceOfAbsent(name: string, line: string): string | undefined {
  if (Object.hasOwn(interpreters, name) && line.trim() === name) return interpreters[name]
  const sentence = sentences.get(name)
  return sentence === undefined ? undefined : `${name} is not available here. ${sentence}`
}
