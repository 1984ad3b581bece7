/** The filters of a list in one line. A set one looks like a chip, and its cross takes it away. */
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState, type ReactNode } from 'react'
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

function Filter<Name extends string>({ filter, value, onChange, take }: FilterProps<Name>) {
  const { name, label, kind } = filter
  const apply = (given: string | undefined): void =>
    onChange({ [name]: given === '' ? undefined : given } as Changes<Name>)
  if (kind === 'link' && value === undefined) return null
  return (
    <div className="list-filter" data-kind={kind} data-set={value !== undefined}>
      <FilterField filter={filter} value={value} onChange={onChange} onApply={apply} take={take} />
      {value !== undefined && kind !== 'choice' && (
        <IconButton label={t('list.removeFilter', { label })} onClick={() => apply(undefined)}>
          <X aria-hidden />
        </IconButton>
      )}
    </div>
  )
}

interface FieldProps<Name extends string> extends FilterProps<Name> {
  readonly onApply: (value: string | undefined) => void
}

function FilterField<Name extends string>(props: FieldProps<Name>) {
  const { filter, value, onChange, onApply, take } = props
  const { label, placeholder = t('list.any') } = filter
  switch (filter.kind) {
    case 'link':
      return (
        <span className="list-filter-text">
          {label} <code className="clip">{value}</code>
        </span>
      )
    case 'text':
      return (
        <SearchField
          label={label}
          placeholder={placeholder}
          value={value ?? ''}
          onChange={(text) =>
            onChange({
              ...(filter.instead !== undefined && { [filter.instead]: undefined }),
              [filter.name]: text === '' ? undefined : text,
            } as Changes<Name>)
          }
          {...(take !== undefined && { take })}
        />
      )
    case 'choice':
      return (
        <SelectField
          label={label}
          value={value ?? ''}
          options={[['', filter.any], ...filter.options]}
          onChange={onApply}
        />
      )
    case 'suggest': {
      const { suggestions } = filter
      const field = { label, placeholder, value: value ?? '', onApply }
      return typeof suggestions === 'function' ? (
        <NameField {...field} query={suggestions} />
      ) : (
        <SuggestField
          {...field}
          suggestions={suggestions.map(([each, text]) => ({ value: each, text }))}
        />
      )
    }
  }
}

interface SuggestProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onApply: (value: string) => void
}

/** Asks for names once a person looks for one. */
function NameField({ query, ...props }: SuggestProps & { query: (typed: string) => NamesQuery }) {
  const [isUsed, setIsUsed] = useState(false)
  const [typed, setTyped] = useState('')
  const { data: names = [] } = useQuery({ ...query(typed), enabled: isUsed })
  return (
    <div className="list-filter-field" onFocus={() => setIsUsed(true)}>
      <SuggestField
        {...props}
        onTyped={setTyped}
        suggestions={names.map((name) => ({ value: name }))}
      />
    </div>
  )
}
