/** The filters of the board; they are in the address. */
import { useNavigate } from '@tanstack/react-router'
import { SelectField } from '../../ui/field.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { boardStates, readBoardSearch, type BoardSearch, type BoardState } from './address.ts'
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
      search: (before) => readBoardSearch({ ...before, ...change }),
    })
  return (
    <div className="filters" role="search">
      {search.view === 'channels' ? (
        <SearchField
          label="Channel"
          placeholder="Part of its name"
          value={search.channel ?? ''}
          onChange={(channel) => set({ channel })}
        />
      ) : (
        <SearchField
          label="Model"
          placeholder="Part of its id"
          value={search.model ?? ''}
          onChange={(model) => set({ model })}
        />
      )}
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
