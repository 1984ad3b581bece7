/** The filters of a list in one line. A set one looks like a chip, and its cross takes it away. */
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState, type ComponentProps, type ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { Button, IconButton } from '../button.tsx'
import { SelectField } from '../field.tsx'
import { SearchField } from '../search-field.tsx'
import { SuggestField } from '../suggest-field.tsx'
import type { ListFilter, NamesQuery, Values } from './define.ts'
import './filters.css'

type Changes<Name extends string> = { readonly [Key in Name]?: string | undefined }

interface FiltersProps<Name extends string> {
  readonly filters: readonly ListFilter<Name>[]
  readonly values: Values<Name>
  /** Undefined takes a filter away. */
  readonly onChange: (changes: Changes<Name>) => void
  /** Takes a text that is no filter, such as a secret: true empties its field. */
  readonly take?: ((text: string) => boolean) | undefined
  /** Further filters, such as a period. */
  readonly children?: ReactNode
}

export function Filters<Name extends string>(props: FiltersProps<Name>) {
  const { filters, values, onChange, take, children } = props
  const isSet = filters.some(({ name }) => values[name] !== undefined)
  const clear = (): void =>
    onChange(Object.fromEntries(filters.map(({ name }) => [name, undefined])) as Changes<Name>)
  return (
    <div className="row list-filters" role="search">
      {filters.map((filter) => (
        <Filter
          key={filter.name}
          filter={filter}
          value={values[filter.name]}
          onChange={onChange}
          take={take}
        />
      ))}
      {children}
      {isSet && (
        <Button look="quiet" onClick={clear}>
          {t('list.clearAll')}
        </Button>
      )}
    </div>
  )
}

interface FilterProps<Name extends string> extends Pick<FiltersProps<Name>, 'onChange' | 'take'> {
  readonly filter: ListFilter<Name>
  readonly value: string | undefined
}

function Filter<Name extends string>(props: FilterProps<Name>) {
  const { filter, value, onChange } = props
  const { name, label, kind } = filter
  if (kind === 'link' && value === undefined) return null
  return (
    <div className="list-filter" data-kind={kind} data-set={value !== undefined}>
      <FilterField {...props} />
      {value !== undefined && kind !== 'choice' && (
        <IconButton
          label={t('list.removeFilter', { label })}
          onClick={() => onChange({ [name]: undefined } as Changes<Name>)}
        >
          <X aria-hidden />
        </IconButton>
      )}
    </div>
  )
}

function FilterField<Name extends string>(props: FilterProps<Name>) {
  const { filter, value = '', onChange, take } = props
  const { name, label, placeholder = t('list.any') } = filter
  const apply = (given: string, others?: Changes<Name>): void =>
    onChange({ ...others, [name]: given === '' ? undefined : given })
  const field = { label, placeholder, value }
  switch (filter.kind) {
    case 'link':
      return (
        <span className="list-filter-text">
          {label} <code className="clip">{value}</code>
        </span>
      )
    case 'text': {
      const { instead } = filter
      const others = instead && ({ [instead]: undefined } as Changes<Name>)
      return (
        <SearchField
          {...field}
          onChange={(text) => apply(text, others)}
          {...(take !== undefined && { take })}
        />
      )
    }
    case 'choice':
      return (
        <SelectField
          label={label}
          value={value}
          options={[['', filter.any], ...filter.options]}
          onChange={(chosen) => apply(chosen)}
        />
      )
    case 'suggest': {
      const { suggestions } = filter
      if (typeof suggestions === 'function')
        return <NameField {...field} onApply={apply} query={suggestions} />
      const known = suggestions.map(([each, text]) => ({ value: each, text }))
      return <SuggestField {...field} onApply={apply} suggestions={known} />
    }
  }
}

type NameProps = Omit<ComponentProps<typeof SuggestField>, 'suggestions'> & {
  readonly query: (typed: string) => NamesQuery
}

/** Asks for names once a person looks for one. */
function NameField({ query, ...props }: NameProps) {
  const [isUsed, setIsUsed] = useState(false)
  const [typed, setTyped] = useState('')
  const { data: names = [] } = useQuery({ ...query(typed), enabled: isUsed })
  const suggestions = names.map((name) => ({ value: name }))
  return (
    <div className="list-filter-field" onFocus={() => setIsUsed(true)}>
      <SuggestField {...props} onTyped={setTyped} suggestions={suggestions} />
    </div>
  )
}
