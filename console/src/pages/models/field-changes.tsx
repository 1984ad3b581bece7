/** The fields that a change gives another value: the old one, the new one, and the difference of a price. */
import { formatShare } from '../../ui/format.ts'
import { amountText, changeShare, fieldTitle, type PriceChange } from './price.ts'

interface Change {
  readonly field: string
  readonly from?: string | undefined
  readonly to?: string | undefined
}

interface FieldChangesProps {
  readonly changes: readonly Change[]
  /** The whole thing is new: there are no old values. */
  readonly isNew?: boolean
}

export function FieldChanges({ changes, isNew = false }: FieldChangesProps) {
  return (
    <dl className="models-changes">
      {changes.map(({ field, from, to }) => (
        <div key={field}>
          <dt>{fieldTitle(field)}</dt>
          <dd>
            {!isNew && (
              <>
                <Value field={field} text={from} />
                <span aria-hidden> → </span>
                <span className="visually-hidden"> becomes </span>
              </>
            )}
            <strong>
              <Value field={field} text={to} />
            </strong>
            {isPrice(field) && <Difference change={{ field, from, to }} />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Value({ field, text }: { field: string; text: string | undefined }) {
  if (text === undefined || text === '') return <span className="soft">not set</span>
  return <span className="break">{isPrice(field) ? amountText(field, text) : text}</span>
}

const priceField = /^(price|cost)\b|^(input|output|cache_)/

function isPrice(field: string): boolean {
  return priceField.test(field)
}

/** Dearer and cheaper are neither good nor bad, so they have no colour. */
function Difference({ change }: { change: PriceChange }) {
  const share = changeShare(change)
  if (share === undefined || share === 0) return null
  return (
    <span className="soft">
      {' '}
      ({share > 0 ? '+' : '−'}
      {formatShare(Math.abs(share))})
    </span>
  )
}
