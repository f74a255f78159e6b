/** What there is here in place of a command that is not. */
const places: readonly (readonly [names: string, sentence: string])[] = [
  ['nano vi vim nvim emacs code ed pico micro', 'Open the file in the editor instead.'],
  ['less more most', 'Use cat: the terminal scrolls.'],
  ['man info', 'Try help, or the command with --help.'],
  ['curl wget ping ssh scp sftp nc telnet ftp rsync', 'Commands cannot reach the network here.'],
  ['apt apt-get brew dpkg dnf yum apk pacman snap', 'Nothing can be installed in this page.'],
  ['pip pip3 python python3 ruby perl php java go cargo rustc gcc g++ deno bun', 'Scripts run with node.'],
  ['npx yarn pnpm corepack', 'Use npm test, npm start or npm run with a script of package.json.'],
  ['sudo su doas', 'The project is yours: commands run with your rights already.'],
  ['top htop ps kill killall jobs', 'Commands end with Ctrl+C.'],
  ['docker podman kubectl systemctl service make cmake', 'Only bash, git, node and npm scripts run in this page.'],
  ['open xdg-open start', 'Press a path in the terminal to open the file.'],
]

const sentences = new Map(places.flatMap(([names, sentence]) => names.split(' ').map((name) => [name, sentence])))

/** Says what there is here in place of a command. Returns undefined for one that is unknown. */
export function sentenceOfAbsent(name: string): string | undefined {
  const sentence = sentences.get(name)
  return sentence === undefined ? undefined : `${name} is not available here. ${sentence}`
}
