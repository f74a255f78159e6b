import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The attacker process: swaps a directory and a file for links to outside and back, as fast as possible, until its
 * parent disconnects. Arguments: the root, the outside directory, the content of the inside file.
 */
const [root = '', outside = '', content = ''] = process.argv.slice(2)

const yard = join(root, 'yard')
mkdirSync(yard, { recursive: true })

interface Target {
  readonly place: string
  readonly real: string
  readonly link: string
  readonly leadsTo: string
  make(location: string): void
}

const directory: Target = {
  place: join(root, 'dir'),
  real: join(yard, 'dir'),
  link: join(yard, 'dir-link'),
  leadsTo: outside,
  make(place) {
    mkdirSync(place)
    writeFileSync(join(place, 'file.txt'), content)
  },
}

const file: Target = {
  place: join(root, 'top.txt'),
  real: join(yard, 'top.txt'),
  link: join(yard, 'top-link'),
  leadsTo: join(outside, 'file.txt'),
  make: (place) => writeFileSync(place, content),
}

function swap({ place, real, link }: Target): void {
  renameSync(place, real)
  renameSync(link, place)
  renameSync(place, link)
  renameSync(real, place)
}

/** Restores the original, which the attacked operations may have replaced or deleted. */
function repair({ place, real, link, leadsTo, make }: Target): void {
  if (existsSync(real)) {
    rmSync(link, { force: true, recursive: true })
    rmSync(place, { force: true, recursive: true })
    renameSync(real, place)
  } else if (!existsSync(place)) {
    rmSync(place, { force: true })
    make(place)
  }
  rmSync(link, { force: true, recursive: true })
  symlinkSync(leadsTo, link)
}

let swaps = 0
let running = true
process.on('disconnect', () => {
  running = false
})

function round(): void {
  for (let i = 0; i < 100; i++) {
    for (const target of [directory, file]) {
      try {
        swap(target)
        swaps += 1
      } catch {
        try {
          repair(target)
        } catch {
          // The attacked operation was faster; the next round repairs the tree.
        }
      }
    }
  }
  if (running) {
    process.send?.({ swaps })
    setImmediate(round)
  } else {
    for (const target of [directory, file]) repair(target)
  }
}

round()
