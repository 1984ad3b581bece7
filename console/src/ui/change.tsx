/** How a figure has changed against another time, as a share of what it was. */
import { formatShare } from './format.ts'

const hardlyAny = 0.005

/** Returns the change as a share; undefined where there was nothing, 0 where it hardly differs. */
export function changeOf(now: number, before: number): number | undefined {
  if (before === 0) return now === 0 ? 0 : undefined
  const share = (now - before) / Math.abs(before)
  return Math.abs(share) < hardlyAny ? 0 : share
}

/** +12%, in the colour of good or bad news. */
export function Change({ share, isGrowthBad }: { share: number; isGrowthBad: boolean }) {
  const text = `${share > 0 ? '+' : share < 0 ? '−' : ''}${formatShare(Math.abs(share))}`
  const tone = share === 0 ? 'soft' : share > 0 === isGrowthBad ? 'bad' : 'good'
  return <span className={tone}>{text}</span>
}
