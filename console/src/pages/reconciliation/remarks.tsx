/** What limits a reconciliation: days that are gone, gateways that died, rows and pages that are missing. */
import { Notice } from '../../ui/card.tsx'
import { Time } from '../../ui/values.tsx'
import type { Reconciliation } from './queries.ts'

export function Remarks({ result }: { result: Reconciliation }) {
  const { explained_from: explainedFrom, unclean_stops: stops, comparison } = result
  return (
    <>
      {explainedFrom !== null && (
        <Notice tone="warn">
          Requests before <Time at={explainedFrom} /> are deleted and are not in these charges.
        </Notice>
      )}
      {stops.length > 0 && (
        <Notice tone="warn">
          A gateway stopped uncleanly in this period. What it served then is not recorded, so the
          vendor may have counted more:
          <ul className="reconciliation-list">
            {stops.map(({ node, from, to }) => (
              <li key={`${node} ${from}`}>
                {node}: <Time at={from} /> to {to === null ? 'now' : <Time at={to} />}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {comparison?.has_more_pages === true && (
        <Notice tone="warn">
          The vendor’s answer has more pages than these files. Export the other pages and choose all
          files together.
        </Notice>
      )}
      {comparison !== null && comparison.unknown_models.length > 0 && (
        <Notice tone="bad">
          The vendor counted models that no channel here has:{' '}
          <strong className="break">{comparison.unknown_models.join(', ')}</strong>. Is the key in
          use elsewhere?
        </Notice>
      )}
      {comparison !== null && comparison.rows_outside_period > 0 && (
        <Notice>
          {comparison.rows_outside_period} rows of the files are of other days and are not compared.
        </Notice>
      )}
      {comparison !== null && comparison.fields_not_compared.length > 0 && (
        <Notice>
          Fields of the files that are not compared:{' '}
          <span className="break">{comparison.fields_not_compared.join(', ')}</span>.
        </Notice>
      )}
    </>
  )
}
