/** How often things happen in a simulated world, and how its vendors behave. */
import type { Random } from '../../../src/base/random.ts'
import type { VendorMood } from './sim-vendor.ts'

/** How often each kind of step is taken, drawn anew for each seed: some worlds are all crashes. */
export interface Rates {
  readonly ask: number
  readonly vendor: number
  readonly leave: number
  readonly slow: number
  readonly take: number
  readonly give: number
  readonly time: number
  readonly disk: number
  readonly crash: number
  readonly credit: number
  readonly refund: number
}

export function drawRates(random: Random): Rates {
  const usual = (rate: number): number => rate * (0.5 + random())
  const seldom = (rate: number): number => (random() < 0.5 ? rate * random() * 2 : 0)
  return {
    ask: usual(10),
    vendor: usual(40),
    leave: seldom(2),
    slow: seldom(4),
    take: usual(20),
    give: usual(20),
    time: usual(2),
    disk: seldom(0.6),
    crash: seldom(0.5),
    credit: seldom(1),
    refund: seldom(2),
  }
}

export function drawMood(random: Random): VendorMood {
  const some = (share: number): number => (random() < 0.5 ? share * random() : 0)
  return { failureShare: some(0.6), stallShare: some(0.3), withoutUsageShare: some(0.3) }
}
