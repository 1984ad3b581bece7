/**
 * The palette: one field that finds accounts, keys, requests, channels, models, pages and actions, by the
 * keyboard alone. A whole secret is taken out of the field, hashed, and opens its key.
 */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { KeyRound, ListTree, Network, PanelTop, Tags, Users, Zap } from 'lucide-react'
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useSecretSearch } from '../../api/secret-search.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { readSecret } from '../../secret.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { entriesFor, type Entry } from './entries.ts'

interface PaletteProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function Palette({ isOpen, onClose }: PaletteProps) {
  return (
    <Dialog title={t('shell.palette.search')} isOpen={isOpen} onClose={onClose}>
      <PaletteSearch onClose={onClose} />
    </Dialog>
  )
}

const pauseMs = 120

/** The text after a pause, so that not every letter is a question. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}

function useEntries(text: string): {
  readonly entries: readonly Entry[]
  readonly isBusy: boolean
} {
  const isOperator = useMay('operator')
  const isOwner = useMay('owner')
  const mayBe = { viewer: true, operator: isOperator, owner: isOwner }
  // Of a secret that is not complete, the gateway gets its head.
  const start = readSecret(text)
  const asked = usePaused(start?.kind === 'head' ? start.head : text)
  const isAsked = asked.length > 1
  const { data, isFetching } = useQuery({
    queryKey: ['search', asked],
    enabled: isAsked,
    gcTime: 0,
    queryFn: ({ signal }) =>
      bodyOf(api.POST('/admin/v1/search', { body: { text: asked }, signal })),
    placeholderData: (before) => before,
  })
  const found = text.length > 1 && isAsked ? (data?.items ?? []) : []
  const entries = entriesFor({ text, may: (role) => mayBe[role], found })
  return { entries, isBusy: isFetching }
}

function PaletteSearch({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const { take } = useSecretSearch()
  const id = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const { entries, isBusy } = useEntries(text.trim())
  const active = Math.min(chosen, entries.length - 1)
  const go = (entry: Entry | undefined): void => {
    if (entry === undefined) return
    onClose()
    void navigate(entry.link)
  }
  const type = (given: string): void => {
    const isSecret = take(given)
    setText(isSecret ? '' : given)
    setChosen(0)
    if (isSecret) onClose()
  }
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') go(entries[active])
    else if (step !== undefined && entries.length > 0)
      setChosen((active + step + entries.length) % entries.length)
    else return
    event.preventDefault()
  }
  return (
    <div className="stack palette">
      <input
        className="input"
        type="search"
        role="combobox"
        autoFocus
        autoComplete="off"
        spellCheck={false}
        aria-label={t('shell.palette.everything')}
        aria-expanded={entries.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active < 0 ? undefined : `${id}-${active}`}
        placeholder={t('shell.palette.example')}
        value={text}
        onChange={({ target }) => type(target.value)}
        onKeyDown={press}
      />
      <ul
        id={`${id}-list`}
        className="palette-list"
        role="listbox"
        aria-label={t('shell.palette.results')}
      >
        {entries.map((entry, index) => (
          <EntryLine
            key={entry.id}
            id={`${id}-${index}`}
            entry={entry}
            isActive={index === active}
            onChoose={() => go(entry)}
          />
        ))}
      </ul>
      <p className="soft medium palette-status" role="status">
        {entries.length === 0 && !isBusy ? t('shell.palette.nothing') : ''}
      </p>
    </div>
  )
}

const icons = {
  account: Users,
  key: KeyRound,
  request: ListTree,
  channel: Network,
  model: Tags,
  page: PanelTop,
  action: Zap,
} as const satisfies Record<Entry['kind'], unknown>

interface EntryLineProps {
  readonly id: string
  readonly entry: Entry
  readonly isActive: boolean
  readonly onChoose: () => void
}

/** The focus stays in the field; the option that Enter opens is marked and in sight. */
function EntryLine({ id, entry, isActive, onChoose }: EntryLineProps) {
  const line = useRef<HTMLLIElement>(null)
  const Icon = icons[entry.kind]
  useEffect(() => {
    if (isActive) line.current?.scrollIntoView({ block: 'nearest' })
  }, [isActive])
  return (
    <li
      ref={line}
      id={id}
      role="option"
      aria-selected={isActive}
      className="palette-entry"
      onClick={onChoose}
      onMouseDown={(event) => event.preventDefault()}
    >
      <Icon aria-hidden />
      <span className="break">{entry.name}</span>
      <span className="soft small palette-detail">{entry.detail}</span>
    </li>
  )
}
