/**
 * Finds the functions that used the most CPU time in the profiles of a program, one profile per thread.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const cpuProfile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
})

/** Threads with less work are not listed. */
const busyUsMin = 100_000

/** Returns the functions of one thread with the most CPU time, each with its part of the busy time. */
export function findHotspots(profile: z.infer<typeof cpuProfile>, count: number) {
  const places = new Map(profile.nodes.map((node) => [node.id, describeFrame(node.callFrame)]))
  const selfUs = new Map<string, number>()
  let busyUs = 0
  for (const [index, nodeId] of profile.samples.entries()) {
    const place = places.get(nodeId) ?? 'unknown'
    const deltaUs = profile.timeDeltas[index] ?? 0
    if (place === '(idle)') continue
    busyUs += deltaUs
    selfUs.set(place, (selfUs.get(place) ?? 0) + deltaUs)
  }
  const sorted = [...selfUs].toSorted(([, left], [, right]) => right - left).slice(0, count)
  return { busyUs, hotspots: sorted.map(([place, us]) => ({ place, share: us / busyUs })) }
}

function describeFrame(frame: z.infer<typeof cpuProfile>['nodes'][number]['callFrame']): string {
  const name = frame.functionName === '' ? '(anonymous)' : frame.functionName
  if (frame.url === '') return name
  const path = frame.url.replace(/^.*\/((?:src|node_modules)\/)/, '$1')
  return `${name} ${path}:${frame.lineNumber + 1}`
}

export function describeProfiles(folder: string, count: number): string {
  const parts = readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => {
      const profile = cpuProfile.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')))
      return { name, ...findHotspots(profile, count) }
    })
    .filter(({ busyUs }) => busyUs >= busyUsMin)
    .toSorted((left, right) => right.busyUs - left.busyUs)
  return parts
    .map(({ name, busyUs, hotspots }) => {
      const lines = hotspots.map(
        ({ place, share }) => `  ${(share * 100).toFixed(1).padStart(5)} %  ${place}`,
      )
      return `${name}: busy for ${(busyUs / 1e6).toFixed(1)} s\n${lines.join('\n')}\n`
    })
    .join('\n')
}
