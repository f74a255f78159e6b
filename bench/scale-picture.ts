/** The measurements of one kind of call. */
export interface Curve {
  readonly name: string
  readonly points: readonly {
    readonly files: number
    /** Milliseconds. */
    readonly median: number
    readonly low: number
    readonly high: number
  }[]
}

const WIDTH = 760
const HEIGHT = 420
const plot = { left: 74, right: WIDTH - 170, top: 20, bottom: HEIGHT - 44 }

/** Colours that differ in hue and lightness, for a light and a dark page. */
const colours: readonly (readonly [light: string, dark: string])[] = [
  ['#0072b2', '#56b4e9'],
  ['#b8500f', '#ff9d5c'],
  ['#007a5a', '#2fd3a2'],
  ['#a3417b', '#e79ac4'],
  ['#6a51a3', '#b3a2f2'],
  ['#6b6400', '#e0d546'],
  ['#a40000', '#ff8a8a'],
  ['#4d4d4d', '#c8c8c8'],
  ['#005f73', '#6be0e6'],
]

/** Draws curves on logarithmic axes: lines through the medians, over areas with the middle half of the rounds. */
export function drawCurves(curves: readonly Curve[]): string {
  const points = curves.flatMap((curve) => curve.points)
  const files = extent(points.map((point) => point.files))
  const times = extent(points.flatMap(({ low, high }) => [low, high]))
  const x = scale(files, plot.left, plot.right)
  const y = scale(times, plot.bottom, plot.top)
  const at = (count: number, ms: number) => `${x(count).toFixed(1)},${y(ms).toFixed(1)}`
  const labels = spread(curves.map(({ points }) => y(points.at(-1)?.median ?? 1)))
  const lines = curves.map(({ name, points }, i) => {
    const area = [...points.map((p) => at(p.files, p.high)), ...points.toReversed().map((p) => at(p.files, p.low))]
    return `<g class="c${i}"><polygon points="${area.join(' ')}"/><polyline points="${points.map((p) => at(p.files, p.median)).join(' ')}"/>
${points.map((p) => `<circle cx="${x(p.files).toFixed(1)}" cy="${y(p.median).toFixed(1)}" r="3"/>`).join('')}
<text x="${plot.right + 10}" y="${((labels[i] ?? 0) + 4).toFixed(1)}">${name}</text></g>`
  })
  const across = powers(times).map((ms) =>
    axis(plot.left, y(ms), plot.right, y(ms), plot.left - 8, y(ms) + 4, 'end', `${ms} ms`),
  )
  const down = powers(files).map((count) =>
    axis(x(count), plot.top, x(count), plot.bottom, x(count), plot.bottom + 18, 'middle', count.toLocaleString('en')),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Time of one call in memory, by the number of files">
<style>${style()}</style>
<rect class="page" width="${WIDTH}" height="${HEIGHT}"/>
${[...across, ...down, ...lines].join('\n')}
<text class="axis" x="${(plot.left + plot.right) / 2}" y="${HEIGHT - 6}" text-anchor="middle">files in the workspace</text>
</svg>
`
}

function style(): string {
  const themed = (index: 0 | 1) => colours.map((pair, i) => `.c${i}{--c:${pair[index]}}`).join('')
  return `text{font:13px system-ui,sans-serif;fill:var(--c,#57606a)}polyline{fill:none;stroke:var(--c);stroke-width:2}circle{fill:var(--c)}polygon{fill:var(--c);opacity:.15}line{stroke:#d0d7de}.page{fill:#fff}${themed(0)}
@media (prefers-color-scheme:dark){.axis{fill:#9198a1}line{stroke:#3d444d}.page{fill:#0d1117}${themed(1)}}`
}

function axis(
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  x: number,
  y: number,
  anchor: string,
  text: string,
): string {
  const [a, b, c, d, e, f] = [x1, y1, x2, y2, x, y].map((value) => value.toFixed(1))
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}"/><text class="axis" x="${e}" y="${f}" text-anchor="${anchor}">${text}</text>`
}

/** Whole powers of ten around the values. */
function extent(values: readonly number[]): readonly [low: number, high: number] {
  const low = Math.floor(Math.log10(Math.min(...values)))
  return [low, Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))]
}

function scale([low, high]: readonly [number, number], from: number, to: number): (value: number) => number {
  return (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from)
}

function powers([low, high]: readonly [number, number]): number[] {
  return Array.from({ length: high - low + 1 }, (_, i) => Number((10 ** (low + i)).toPrecision(1)))
}

/** Moves labels apart so that none covers another. */
function spread(heights: readonly number[]): number[] {
  const result = [...heights]
  const order = heights.map((_, i) => i).sort((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0))
  let last = Number.NEGATIVE_INFINITY
  for (const i of order) {
    last = Math.max(result[i] ?? 0, last + 16)
    result[i] = last
  }
  return result
}
