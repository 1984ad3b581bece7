/** What limits a reconciliation: days that are gone, gateways that died, rows and pages that are missing. */
import { Notice } from '../../ui/card.tsx'
import { Time } from '../../ui/values.tsx'
import type { Reconciliation } from './queries.ts'

export function Remarks({ result }: { result: Reconciliation }) {
  const { explained_from: explainedFrom, unclean_stops: stops } = result
  return (
    <>
      {explainedFrom !== null && (
        <Notice tone="warn">
          Requests before <Time at={explainedFrom} /> are deleted and are not in these sums.
        </Notice>
      )}
      {stops.length > 0 && (
        <Notice tone="warn">
          A gateway stopped uncleanly in this period. What it served then is not recorded:
          <ul className="reconciliation-list">
            {stops.map(({ node, from, to }) => (
              <li key={`${node} ${from}`}>
                {node}: <Time at={from} /> to {to === null ? 'now' : <Time at={to} />}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {result.has_more_pages && (
        <Notice tone="warn">
          The vendor’s answer has more pages than these files. Export the other pages and choose all
          files together.
        </Notice>
      )}
      {result.rows_outside_period > 0 && (
        <Notice>
          {result.rows_outside_period} rows of the files are of other days and are not compared.
        </Notice>
      )}
      {result.fields_not_compared.length > 0 && (
        <Notice>
          Fields of the files that are not compared:{' '}
          <span className="break">{result.fields_not_compared.join(', ')}</span>.
        </Notice>
      )}
    </>
  )
}
