/** The words that are kept of a vendor's error, and what they say. Never its message. */
import { said, t } from '../messages/t.ts'
import { Notice } from './card.tsx'
import { Prose } from './prose.tsx'

export interface VendorError {
  readonly type: string | null
  readonly code: string | null
  readonly param: string | null
  readonly meaning: string
}

/** The vendor's most telling word, for a line of a list. */
export function shortVendorError({ type, code, param }: VendorError): string {
  return code ?? type ?? param ?? ''
}

/** As Markdown; a code says more than a type. */
export function vendorErrorMeaning({ type, code, param, meaning }: VendorError): string {
  const known = [code, type].map((word) => said(`vendorErrors.words.${word ?? ''}`, ''))
  const own = known.find((text) => text !== '') ?? said('vendorErrors.other', '')
  if (own === '') return meaning
  return param === null ? own : own + said('vendorErrors.field', '', { param })
}

/** Why the vendor refused, in a sentence and in the vendor's own words. */
export function VendorErrorNotice({ error }: { error: VendorError }) {
  return (
    <Notice tone="warn">
      <p>
        <Prose text={vendorErrorMeaning(error)} />
      </p>
      <p className="soft">
        <VendorErrorWords error={error} />
      </p>
    </Notice>
  )
}

export function VendorErrorWords({ error: { type, code, param } }: { error: VendorError }) {
  const words = Object.entries({
    [t('ui.vendorError.type')]: type,
    [t('ui.vendorError.code')]: code,
    [t('ui.vendorError.param')]: param,
  }).filter(([, word]) => word !== null)
  return (
    <>
      {t('ui.vendorError.said')}{' '}
      {words.map(([name, word], index) => (
        <span key={name}>
          {index > 0 && ', '}
          {name} <code className="break">{word}</code>
        </span>
      ))}
    </>
  )
}
