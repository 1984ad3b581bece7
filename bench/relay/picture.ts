/** Draws the picture of the documentation: one bar for each gateway, the requests that one core serves. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { picturePath } from './report.ts'
import { compareCores, summarize, type PerCore, type RelayFigures } from './rounds.ts'

const width = 900
const barLeft = 240
const barWidthMax = 540
const barHeight = 26
const rowHeight = 38
const top = 76

const style = `
    text { font: 14px system-ui, sans-serif; fill: #1c2733; }
    .title { font-size: 17px; font-weight: 600; }
    .small { font-size: 12px; fill: #55606b; }
    .peer { fill: #b7c4d3; }
    .ours { fill: #3a76c4; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6ecf2; }
      .small { fill: #a8b4c0; }
      .peer { fill: #52616f; }
      .ours { fill: #5b95df; }
    }
  `

/** Returns the SVG; the fastest comes first. */
export function drawCores(cores: readonly PerCore[], source: string): string {
  const bars = cores.toSorted((left, right) => right.requestsPerCore - left.requestsPerCore)
  const most = bars[0]?.requestsPerCore ?? 1
  const height = top + bars.length * rowHeight + 24
  const described = bars.map(({ title, requestsPerCore }) => {
    return `${title}: ${Math.round(requestsPerCore).toLocaleString('en')}`
  })
  const drawn = bars.map((bar, index) => drawBar(bar, index, most)).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc">
  <title id="title">Requests a second on one core, with a vendor that takes half a second</title>
  <desc id="desc">${escape(described.join('; '))}.</desc>
  <style>${style}</style>
  <text class="title" x="24" y="32">Requests a second on one core, by CPU time per request</text>
  <text class="small" x="24" y="54">The vendor answers after half a second. nginx and Envoy only forward. ${escape(source)}</text>
${drawn}</svg>
`
}

function drawBar({ target, title, requestsPerCore }: PerCore, index: number, most: number): string {
  const y = top + index * rowHeight
  const length = Math.max(2, Math.round((requestsPerCore / most) * barWidthMax))
  const kind = target === 'turnpike' || target === 'postgres' ? 'ours' : 'peer'
  const middle = y + 18
  return (
    `  <text x="${barLeft - 12}" y="${middle}" text-anchor="end">${escape(title)}</text>\n` +
    `  <rect class="${kind}" x="${barLeft}" y="${y}" width="${length}" height="${barHeight}" rx="3" />\n` +
    `  <text x="${barLeft + length + 10}" y="${middle}">${Math.round(requestsPerCore).toLocaleString('en')}</text>\n`
  )
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** Returns the picture's path; undefined if the run did not measure what it shows. */
export function writePicture(root: string, { machine, rounds }: RelayFigures): string | undefined {
  const cores = compareCores(summarize(rounds))
  if (cores.length === 0) return undefined
  const path = join(root, 'docs', picturePath)
  writeFileSync(path, drawCores(cores, `${machine.date.slice(0, 10)}, ${machine.processor}.`))
  return path
}
