/** The filters of the board; they are in the address. */
import { useNavigate } from '@tanstack/react-router'
import { SelectField } from '../../ui/field.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { boardStates, type BoardSearch, type BoardState } from './address.ts'
import { meanings } from './states.ts'

export function BoardFilters({
  search,
  vendors,
}: {
  readonly search: BoardSearch
  readonly vendors: readonly string[]
}) {
  const navigate = useNavigate({ from: '/channels' })
  const set = (change: {
    [Name in keyof BoardSearch]: BoardSearch[Name] | ''
  }): void =>
    void navigate({
      replace: true,
      search: (before) => keepFilled({ ...before, ...change }),
    })
  return (
    <div className="filters" role="search">
      <SearchField
        label="Model"
        placeholder="Part of its id"
        value={search.model ?? ''}
        onChange={(model) => set({ model })}
      />
      <SelectField
        label="Vendor"
        value={search.vendor ?? ''}
        options={[['', 'All'], ...vendors.map((vendor) => [vendor, vendor] as const)]}
        onChange={(vendor) => set({ vendor })}
      />
      <SelectField<BoardState | ''>
        label="State"
        value={search.state ?? ''}
        options={[['', 'All'], ...boardStates.map((state) => [state, stateName(state)] as const)]}
        onChange={(state) => set({ state })}
      />
    </div>
  )
}

function stateName(state: BoardState): string {
  return state === 'trouble' ? 'Not fully on' : meanings[state].name
}

function keepFilled(search: {
  readonly model?: string
  readonly vendor?: string
  readonly state?: BoardState | ''
}): BoardSearch {
  const { model = '', vendor = '', state = '' } = search
  return {
    ...(model !== '' && { model }),
    ...(vendor !== '' && { vendor }),
    ...(state !== '' && { state }),
  }
}
