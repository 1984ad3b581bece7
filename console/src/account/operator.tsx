/** The operator as its settings describe it: name and contact, shown as text. */
import { useQuery } from '@tanstack/react-query'
import icon from '../icon.svg'
import { operatorQuery } from './queries.ts'

/** Undefined until it is known. */
export function useOperatorName(): string | undefined {
  const { data, error } = useQuery(operatorQuery)
  if (data === undefined && error === null) return undefined
  return data?.name ?? 'Account'
}

export function Brand() {
  const name = useOperatorName()
  return (
    <div className="holder-brand">
      {name !== undefined && <img src={icon} alt="" />}
      <span>{name}</span>
    </div>
  )
}

/** Leads to a mail program or a site where the setting is such an address; other text stays text. */
export function Contact() {
  const { data } = useQuery(operatorQuery)
  const contact = data?.contact ?? null
  if (contact === null) return null
  const isLink = /^(mailto:|https:\/\/)/.test(contact)
  return (
    <p className="soft holder-contact">
      Questions?{' '}
      {isLink ? (
        <a href={contact} rel="noreferrer">
          {contact.replace(/^(mailto:|https:\/\/)/, '')}
        </a>
      ) : (
        contact
      )}
    </p>
  )
}
