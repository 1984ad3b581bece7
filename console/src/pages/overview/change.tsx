/** How a figure has changed against the same time of yesterday. */
import { formatShare } from '../../ui/format.ts'

interface ChangeProps {
  readonly now: number | undefined
  readonly before: number | undefined
  /** More of it is worse, as of errors. */
  readonly isGrowthBad?: boolean
}

const hardlyAny = 0.005

export function Change({ now, before, isGrowthBad = false }: ChangeProps) {
  if (now === undefined || before === undefined) return <>no comparison</>
  if (before === 0) return <>{now === 0 ? 'as yesterday' : 'none yesterday'}</>
  const share = (now - before) / Math.abs(before)
  if (Math.abs(share) < hardlyAny) return <>as yesterday</>
  const tone = share > 0 === isGrowthBad ? 'bad' : 'good'
  const text = `${share > 0 ? '+' : '−'}${formatShare(Math.abs(share))}`
  return (
    <>
      <span className={tone}>{text}</span> vs yesterday
    </>
  )
}
