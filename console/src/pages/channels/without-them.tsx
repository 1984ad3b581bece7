/** Names the models that no channel could serve while some channels are disabled. */
import { useQuery } from '@tanstack/react-query'
import { Notice } from '../../ui/card.tsx'
import { buildBoard, type ModelBoard } from './board.ts'
import { boardQuery } from './queries.ts'

export function WithoutThem({ channels }: { channels: readonly string[] }) {
  const { data } = useQuery(boardQuery)
  const models = data === undefined ? [] : buildBoard(data).filter((each) => needs(each, channels))
  if (models.length === 0) return null
  return (
    <Notice tone="warn">
      No other channel could serve{' '}
      {models.map(({ model }, index) => (
        <span key={model}>
          {index > 0 && ', '}
          <code>{model}</code>
        </span>
      ))}{' '}
      now. Requests for {models.length === 1 ? 'this model' : 'these models'} would fail.
    </Notice>
  )
}

function needs({ rows }: ModelBoard, channels: readonly string[]): boolean {
  const isUsable = (row: ModelBoard['rows'][number]): boolean =>
    row.channel.health.some((health) => health.model === row.model && health.is_usable)
  const others = rows.filter((row) => !channels.includes(row.channel.name))
  return others.length < rows.length && !others.some(isUsable)
}
